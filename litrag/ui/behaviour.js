// Behaviour of the answer view. The markup works without it (the popovers are the browser's own); this adds opening on
// hover and on keyboard focus, placing beside the [n], and the selection of claims and sources. Buttons in the text that
// need the server press a native button of the page, by its key. It reads classes, ids and data attributes that
// litrag/render.py wrote and never inserts markup. It is a plain script and not a component: a component's state can't
// be pickled, which runner.enforceSerializableSessionState asks for.

{

const OPEN_AFTER = 120
const CLOSE_AFTER = 260
const NARROW = "(max-width: 40rem)"

let timer = 0
let restoring = false

const cardOf = ref => document.getElementById(ref.getAttribute("popovertarget"))
const refOf = card => document.getElementById(`${card.id}-b`)
const isOpen = card => card.matches(":popover-open")
const closest = (node, selector) => (node instanceof Element ? node.closest(selector) : null)
const later = (action, delay) => {
  clearTimeout(timer)
  timer = setTimeout(action, delay)
}

function place(card) {
  if (matchMedia(NARROW).matches) {
    card.removeAttribute("data-lr-placed")
    card.style.left = card.style.top = ""
    return
  }
  card.setAttribute("data-lr-placed", "")
  const ref = refOf(card).getBoundingClientRect()
  const { offsetWidth: width, offsetHeight: height } = card
  const below = innerHeight - ref.bottom
  const top = below >= height + 12 || below >= ref.top ? ref.bottom + 4 : ref.top - height - 4
  card.style.left = `${Math.max(8, Math.min(ref.left - 12, innerWidth - width - 8))}px`
  card.style.top = `${Math.max(8, Math.min(top, innerHeight - height - 8))}px`
}

function open(ref) {
  const card = cardOf(ref)
  if (card && !isOpen(card)) card.showPopover({ source: ref })
}

function close(card) {
  if (card && isOpen(card) && !card.hasAttribute("data-lr-pinned")) card.hidePopover()
}

function closeSoon(card) {
  later(() => {
    const ref = refOf(card)
    const inUse = card.matches(":hover") || card.contains(document.activeElement) || ref?.matches(":hover, :focus-visible")
    if (!inUse) close(card)
  }, CLOSE_AFTER)
}

// --- [n] and its card
function onOver(event) {
  if (event.pointerType === "touch") return
  const ref = closest(event.target, ".lr-ref")
  if (ref) later(() => open(ref), OPEN_AFTER)
  else if (closest(event.target, ".lr-card")) clearTimeout(timer)
}

function onOut(event) {
  if (event.pointerType === "touch") return
  const ref = closest(event.target, ".lr-ref")
  const card = ref ? cardOf(ref) : closest(event.target, ".lr-card")
  if (card) closeSoon(card)
}

function onFocusIn(event) {
  const ref = closest(event.target, ".lr-ref")
  if (ref && ref.matches(":focus-visible") && !restoring) open(ref)
}

function onFocusOut(event) {
  const ref = closest(event.target, ".lr-ref")
  const card = ref ? cardOf(ref) : closest(event.target, ".lr-card")
  if (card && event.relatedTarget && !card.contains(event.relatedTarget) && event.relatedTarget !== refOf(card)) closeSoon(card)
}

function onToggle(event) {
  const card = closest(event.target, ".lr-card")
  if (!card) return
  const opened = event.newState === "open"
  refOf(card)?.setAttribute("aria-expanded", String(opened))
  if (opened) place(card)
  else card.removeAttribute("data-lr-pinned")
}

function onKey(event) {
  // The browser closes the card on Escape and gives focus back to [n], which must not open it again.
  if (event.key !== "Escape") return
  clearTimeout(timer)
  restoring = true
  setTimeout(() => (restoring = false), 0)
}

function onScroll(event) {
  if (closest(event.target, ".lr-card")) return
  for (const card of document.querySelectorAll(".lr-card:popover-open")) card.hasAttribute("data-lr-pinned") ? place(card) : close(card)
}

function onRefClick(ref, event) {
  const card = cardOf(ref)
  clearTimeout(timer)
  if (card && isOpen(card) && !card.hasAttribute("data-lr-pinned")) {
    event.preventDefault()
    card.setAttribute("data-lr-pinned", "")
  } else if (card && !isOpen(card)) {
    card.setAttribute("data-lr-pinned", "")
  }
}

// --- claims and sources
function select(answer, key, claims, { scroll = false } = {}) {
  const again = answer.dataset.lrSelected === key
  answer.querySelectorAll(".lr-on").forEach(node => node.classList.remove("lr-on"))
  answer.querySelectorAll('[aria-pressed="true"]').forEach(node => node.setAttribute("aria-pressed", "false"))
  delete answer.dataset.lrSelected
  if (again) return
  answer.dataset.lrSelected = key
  for (const place of claims) answer.querySelector(`.lr-claim[data-lr-place="${place}"]`)?.classList.add("lr-on")
  const wanted = new Set(claims)
  for (const mark of answer.querySelectorAll(".lr-source mark[data-lr-claims]")) {
    if (mark.dataset.lrClaims.split(" ").some(place => wanted.has(place))) mark.classList.add("lr-on")
  }
  if (scroll) reveal(answer.querySelector(".lr-source mark.lr-on"))
}

function reveal(node) {
  if (!node) return
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches
  node.scrollIntoView({ behavior: calm ? "auto" : "smooth", block: "nearest" })
}

const ACTIONS = {
  select(act, answer) {
    const was = act.getAttribute("aria-pressed") === "true"
    select(answer, `claim-${act.dataset.lrPlace}`, [act.dataset.lrPlace], { scroll: !was })
    act.setAttribute("aria-pressed", String(!was))
  },
  claims(act, answer) {
    const was = act.getAttribute("aria-pressed") === "true"
    const source = closest(act, ".lr-source")
    select(answer, `source-${source.dataset.lrSource}`, act.dataset.lrPlaces.split(" "))
    if (was) return
    act.setAttribute("aria-pressed", "true")
    source.classList.add("lr-on")
    reveal(answer.querySelector(".lr-claim.lr-on"))
  },
  jump(act) {
    const target = document.getElementById(act.dataset.lrTarget)
    closest(act, ".lr-card")?.hidePopover()
    if (!target) return
    target.setAttribute("tabindex", "-1")
    target.focus({ preventScroll: true })
    reveal(target)
  },
  press: act => document.querySelector(`.st-key-${CSS.escape(act.dataset.lrKey)} button`)?.click(),
}

function onClick(event) {
  const ref = closest(event.target, ".lr-ref")
  if (ref) return onRefClick(ref, event)
  const act = closest(event.target, "[data-lr-act]")
  if (!act) return
  if (act instanceof HTMLAnchorElement) {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
  }
  const action = ACTIONS[act.dataset.lrAct]
  if (action) action(act, closest(act, ".lr-answer"))
}

// Streamlit runs the script again when it draws it again: the listeners of the earlier run go.
window.litragListening?.abort()
window.litragListening = new AbortController()
const quietly = { signal: window.litragListening.signal }
const early = { ...quietly, capture: true }
document.addEventListener("pointerover", onOver, quietly)
document.addEventListener("pointerout", onOut, quietly)
document.addEventListener("focusin", onFocusIn, quietly)
document.addEventListener("focusout", onFocusOut, quietly)
document.addEventListener("toggle", onToggle, early)
document.addEventListener("keydown", onKey, early)
document.addEventListener("scroll", onScroll, { ...early, passive: true })
document.addEventListener("click", onClick, quietly)
window.addEventListener("resize", () => document.querySelectorAll(".lr-card:popover-open").forEach(place), quietly)

// Streamlit's toasts are dialogs without a name, which screen readers then announce as "dialog" alone.
const nameToasts = () => document.querySelectorAll("[data-testid=stToast]:not([aria-label])").forEach(toast => {
  toast.setAttribute("aria-label", "Message")
})
const toasts = new MutationObserver(nameToasts)
toasts.observe(document.body, { childList: true, subtree: true })
quietly.signal.addEventListener("abort", () => toasts.disconnect())
nameToasts()
document.documentElement.classList.add("lr-alive")
}
