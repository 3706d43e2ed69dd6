// The "?" key of the Review page presses its help button, since Streamlit's shortcuts know no punctuation; and the page
// starts at its top when another item is shown. It reads keys and classes and inserts no markup.

if (!window.lrReviewKeys) {
  window.lrReviewKeys = true
  document.addEventListener("keydown", event => {
    const typing = event.target instanceof Element && event.target.closest("input, textarea, [contenteditable=true]")
    if (event.key !== "?" || typing || event.ctrlKey || event.metaKey || event.altKey) return
    document.querySelector('[class*="st-key-review-help"] button')?.click()
    event.preventDefault()
  })
}
