"""`python -m training inference`, then `domain`, then `export`; each can be interrupted and run again."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

import torch

from litrag.local_model import DEFAULT_PATH
from training.distil import soften, train_student
from training.domain_pairs import load_domain_dev, load_domain_pairs
from training.export import export
from training.inference_pairs import load_inference_pairs
from training.loop import Plan, Run
from training.pairs import training_dir
from training.restore import restore
from training.teacher import train_teacher


def train_inference(arguments: argparse.Namespace) -> None:
    """Stage 1: learn inference from general pairs."""
    train, dev = load_inference_pairs(unstated=arguments.unstated)
    plan = Plan(
        arguments.name,
        epochs=arguments.epochs,
        max_tokens=128,
        learning_rate=arguments.learning_rate,
        threads=arguments.threads,
    )
    run = Run(plan, training_dir(), train, dev)
    print(f"train {len(train)}, dev {len(dev)}, steps {len(run.batches)}", Counter(p.source for p in train), flush=True)
    print("tokens per epoch:", sum(len(row.ids) for row in run.rows), flush=True)
    if not run.resume() and arguments.begin_with:
        run.start_from(training_dir() / f"{arguments.begin_with}.pt")
    run.train()


def train_domain(arguments: argparse.Namespace) -> None:
    """Stage 2: learn to judge medical claims, from the best weights of stage 1."""
    train, dev = load_domain_pairs()
    plan = Plan(
        arguments.name,
        epochs=arguments.epochs,
        max_tokens=256,
        learning_rate=arguments.learning_rate,
        final_share=0.02,
        warmup_steps=60,
        tokens_per_batch=3072,
        rows_per_batch=24,
        threads=arguments.threads,
    )
    run = Run(plan, training_dir(), train, dev)
    print(f"train {len(train)}, dev {len(dev)}, steps {len(run.batches)}", Counter(p.source for p in train), flush=True)
    if not run.resume():
        if arguments.from_shipped:
            run.network.load_state_dict(restore().state_dict())
        else:
            run.start_from(training_dir() / f"{arguments.begin_with}.pt")
    run.train()


def learn_from_teacher(arguments: argparse.Namespace) -> None:
    """Train the small network on labels and on the teacher's softened opinions."""
    plan = Plan(
        arguments.name,
        epochs=arguments.epochs,
        max_tokens=256,
        learning_rate=arguments.learning_rate,
        final_share=0.02,
        tokens_per_batch=3072,
        rows_per_batch=48,
        threads=arguments.threads,
    )
    train_student(plan, from_shipped=arguments.from_shipped)


def soften_pairs(arguments: argparse.Namespace) -> None:
    """Keep the teacher's opinions of all of the student's pairs."""
    torch.set_num_threads(arguments.threads)
    soften(arguments.base, arguments.weights)


def teach(arguments: argparse.Namespace) -> None:
    """Train the larger network whose opinions the small one learns from."""
    train_teacher(arguments.base, arguments.threads)


def export_model(arguments: argparse.Namespace) -> None:
    """Turn a run's best weights into the files that the package carries."""
    export(training_dir() / arguments.name / f"{arguments.weights}.pt", arguments.target, load_domain_dev())


def main() -> None:
    """Read the arguments and run one stage."""
    parser = argparse.ArgumentParser(prog="python -m training", description=__doc__)
    stages = parser.add_subparsers(required=True)
    inference = stages.add_parser("inference", help=train_inference.__doc__)
    inference.set_defaults(run=train_inference)
    inference.add_argument("--name", default="inference", help="folder of the run")
    inference.add_argument("--begin-with", help="weights to start from, as run/best or run/step-N")
    inference.add_argument("--unstated", action="store_true", help="also read sets whose licence is not stated")
    inference.add_argument("--epochs", type=float, default=2.0)
    inference.add_argument("--learning-rate", type=float, default=2e-4)
    inference.add_argument("--threads", type=int, default=2)
    domain = stages.add_parser("domain", help=train_domain.__doc__)
    domain.set_defaults(run=train_domain)
    domain.add_argument("--name", default="domain", help="folder of the run")
    domain.add_argument("--begin-with", default="inference/best", help="weights to start from, as run/step-N")
    domain.add_argument("--from-shipped", action="store_true", help="go on from the weights that the package carries")
    domain.add_argument("--epochs", type=float, default=1.4)
    domain.add_argument("--learning-rate", type=float, default=1.5e-4)
    domain.add_argument("--threads", type=int, default=2)
    teacher = stages.add_parser("teacher", help=teach.__doc__)
    teacher.set_defaults(run=teach)
    teacher.add_argument("--base", type=Path, required=True, help="folder of all-mpnet-base-v2")
    teacher.add_argument("--threads", type=int, default=2)
    softened = stages.add_parser("soften", help=soften_pairs.__doc__)
    softened.set_defaults(run=soften_pairs)
    softened.add_argument("--base", type=Path, required=True, help="folder of all-mpnet-base-v2")
    softened.add_argument("--weights", default="best", help="checkpoint of the teacher")
    softened.add_argument("--threads", type=int, default=2)
    student = stages.add_parser("student", help=learn_from_teacher.__doc__)
    student.set_defaults(run=learn_from_teacher)
    student.add_argument("--name", default="student", help="folder of the run")
    student.add_argument("--from-shipped", action="store_true", help="go on from the weights that the package carries")
    student.add_argument("--epochs", type=float, default=2.0)
    student.add_argument("--learning-rate", type=float, default=2e-4)
    student.add_argument("--threads", type=int, default=2)
    carried = stages.add_parser("export", help=export_model.__doc__)
    carried.set_defaults(run=export_model)
    carried.add_argument("--name", default="domain", help="folder of the run")
    carried.add_argument("--weights", default="best", help="best, or another checkpoint of the run")
    carried.add_argument("--target", type=Path, default=DEFAULT_PATH)
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    main()
