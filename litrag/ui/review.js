// Keys of the Review page that Streamlit's own shortcuts don't give: "?" opens the help, Escape leaves a text field, and
// a list or switch that was just used gives the keys back. The page starts at its top when another item is shown. It reads
// keys, roles and ids and inserts no markup.

if (!window.lrReviewKeys) {
  window.lrReviewKeys = true
  const item = () => document.querySelector("[data-lr-item]")?.getAttribute("data-lr-item")
  let shown

  document.addEventListener("keydown", event => {
    if (!item() || event.ctrlKey || event.metaKey || event.altKey || !(event.target instanceof HTMLElement)) return
    const typing = event.target.closest("input, textarea, [contenteditable=true]")
    if (event.key === "Escape" && event.target.matches("textarea")) event.target.blur()
    if (event.key !== "?" || typing) return
    document.querySelector('[class*="st-key-review-help"] button')?.click()
    event.preventDefault()
  })

  // A switch keeps the focus, and Streamlit's shortcuts are silent in fields: its letters and digits go to the page.
  document.addEventListener("keydown", event => {
    const field = event.target
    if (!event.isTrusted || !item() || event.ctrlKey || event.metaKey || event.altKey || !/^[\w?]$/.test(event.key)) return
    if (!(field instanceof HTMLElement && field.matches("input[type=checkbox]"))) return
    event.stopImmediatePropagation()
    event.preventDefault()
    field.blur()
    const { key, code, keyCode, shiftKey } = event
    for (const kind of ["keydown", "keyup"]) {
      document.body.dispatchEvent(new KeyboardEvent(kind, { key, code, keyCode, shiftKey, bubbles: true, cancelable: true }))
    }
  }, true)

  const leaveList = () => {
    const field = document.activeElement
    if (field?.matches("[role=combobox][aria-expanded=false]")) field.blur()
  }

  // A long text opens at its quote, with what stands before it in view.
  const showQuote = () => {
    const text = document.querySelector(".lr-rv-text")
    const quote = text?.querySelector(".lr-rv-span")
    if (!quote) return
    const down = quote.getBoundingClientRect().top - text.getBoundingClientRect().top
    text.scrollTop = text.scrollTop + down - text.clientHeight / 3
  }

  new MutationObserver(changes => {
    const now = item()
    if (!now) return
    if (changes.some(change => change.attributeName === "aria-expanded" && change.target === document.activeElement)) leaveList()
    if (now === shown) return
    shown = now
    leaveList()
    document.querySelector("[data-testid=stMain]")?.scrollTo({ top: 0 })
    showQuote()
  }).observe(document.body, {
    childList: true, subtree: true, attributes: true, attributeFilter: ["aria-expanded", "data-lr-item"],
  })
}
