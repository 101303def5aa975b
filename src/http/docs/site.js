// Runs in the browser: search and copy buttons. Pages are complete without it.
const find = id => document.getElementById(id)
const input = find('query')
const results = find('results')
const status = results.querySelector('p')
const list = results.querySelector('ul')
const maxResults = 12

let loading
/** Loads the index on first use: it is larger than a page. */
const loadIndex = () => {
  loading ??= load().catch(error => {
    loading = undefined
    throw error
  })
  return loading
}

async function load() {
  const [{ default: MiniSearch }, sections] = await Promise.all([
    import('./minisearch.js'),
    fetch(new URL('search.json', import.meta.url)).then(response => response.json()),
  ])
  const index = new MiniSearch({
    idField: 'path',
    fields: ['heading', 'title', 'text'],
    storeFields: ['path', 'title', 'heading', 'text'],
    searchOptions: { boost: { heading: 4, title: 3 }, prefix: true, fuzzy: 0.15, combineWith: 'AND' },
  })
  index.addAll(sections)
  return index
}

async function search() {
  const query = input.value.trim()
  results.hidden = query === ''
  if (query === '') return
  const index = await loadIndex()
  // A later key may have changed the query while the index was loading.
  if (input.value.trim() !== query) return
  const hits = index.search(query)
  status.textContent = hits.length ? `${hits.length} ${hits.length === 1 ? 'result' : 'results'}` : 'No results'
  list.replaceChildren(...hits.slice(0, maxResults).map(renderResult))
}

function renderResult({ path, title, heading, text, terms }) {
  const link = document.createElement('a')
  link.href = new URL(/^(#|$)/.test(path) ? `../docs${path}` : path, import.meta.url)
  const name = document.createElement('b')
  name.textContent = heading ? `${title}: ${heading}` : title
  const excerpt = document.createElement('span')
  const at = Math.max(0, ...terms.slice(0, 1).map(term => text.toLowerCase().indexOf(term) - 40))
  excerpt.textContent = `${at ? '…' : ''}${text.slice(at, at + 140)}${text.length > at + 140 ? '…' : ''}`
  link.append(name, excerpt)
  const item = document.createElement('li')
  item.append(link)
  return item
}

document.querySelector('search').hidden = false
input.addEventListener('focus', loadIndex)
input.addEventListener('input', search)
list.addEventListener('click', event => {
  if (event.target.closest('a')) results.hidden = true
})
document.addEventListener('keydown', event => {
  if (event.key === '/' && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) {
    event.preventDefault()
    input.focus()
  }
  if (event.key === 'Escape' && !results.hidden) {
    results.hidden = true
    input.focus()
  }
})
document.addEventListener('click', event => {
  if (!event.target.closest('search')) results.hidden = true
})

async function copy(button, text) {
  const label = button.textContent
  await navigator.clipboard.writeText(text)
  button.textContent = 'Copied'
  setTimeout(() => (button.textContent = label), 2_000)
}

for (const button of document.querySelectorAll('[data-copy]')) {
  button.hidden = false
  button.addEventListener('click', async () => copy(button, await (await fetch(button.dataset.copy)).text()))
}
for (const block of document.querySelectorAll('pre')) {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  button.textContent = 'Copy'
  button.addEventListener('click', () => copy(button, block.textContent))
  const frame = document.createElement('div')
  frame.className = 'block'
  block.before(frame)
  frame.append(block, button)
}
