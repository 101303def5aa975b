import { useContext, useEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../components/button.js'
import { onSubmit } from '../components/field.js'
import { Problem } from '../components/problem.js'
import { getRoute, ResultLinks } from '../components/search-results.js'
import { useAction } from '../components/use-load.js'
import { html } from '../lib/html.js'
import { recordLists } from '../lib/record-lists.js'
import { PagesContext, useHasRole } from '../lib/role.js'
import { goTo, linkBackTo, linkTo, linkToList } from '../lib/route.js'
import { rich, t } from '../lib/text.js'
import { linkToSearch } from './requests/search.js'
import { Customer } from './search/customer.js'
import { findRecords } from './search/find.js'
import { Order } from './search/order.js'
import { Product } from './search/product.js'
import { Return } from './search/return.js'
import { Sale } from './search/sale.js'
import { Store } from './search/store.js'
import { Voucher } from './search/voucher.js'

/** @type {Record<string, any>} */
const kinds = {
  customer: Customer,
  order: Order,
  return: Return,
  sale: Sale,
  product: Product,
  store: Store,
  voucher: Voucher,
}

/** The link back to each list. @type {Record<string, string>} */
const backTexts = {
  customers: t('All customers'),
  orders: t('All orders'),
  returns: t('All returns'),
  sales: t('All sales'),
  products: t('All products'),
  stores: t('All stores'),
  vouchers: t('All vouchers'),
}

/** The title of each kind. @type {Record<string, string>} */
const titles = {
  customer: t('Customer'),
  order: t('Order'),
  return: t('Return'),
  sale: t('Sale'),
  product: t('Product'),
  store: t('Store'),
  voucher: t('Gift voucher'),
}

/** The API's path of each kind. @type {Record<string, string>} */
const apiPaths = {
  customer: 'customers',
  order: 'orders',
  return: 'returns',
  sale: 'transactions',
  product: 'products',
  store: 'stores',
  voucher: 'vouchers',
}

/**
 * The search box, and the page of a record.
 * @param {{ parts: string[] }} props
 */
export function Screen({ parts: [kind = '', id = ''] }) {
  const isAdmin = useHasRole('admin')
  const Record = id && Object.hasOwn(kinds, kind) ? kinds[kind] : undefined
  const list = recordLists[kind]
  return html`${Record && list && html`<p class="trail"><a href=${linkBackTo(list)}>${backTexts[list]}</a></p>`}
    <h1 class=${Record && 'hidden'}>${Record ? titles[kind] : t('Search')}</h1>
    ${!Record && html`<${SearchBox} showsHint=${true} initialText=${kind === 'text' ? id : undefined} />`}
    ${Record && html`<${Record} key=${`${kind} ${id}`} id=${id} />`}
    ${
      Record &&
      isAdmin &&
      // The API has no path for a single SKU.
      !id.startsWith('sku:') &&
      html`<p class="note"><a href=${linkToSearch({ record: `/${apiPaths[kind]}/${encodeURIComponent(id)}` })}>Requests about this record</a></p>`
    }`
}

const hint = t(
  'Enter the beginning of an order, receipt, return, product or SKU number, words of a name or email address, a phone number, a barcode or a whole voucher number.',
)

/** @param {{ showsHint: boolean, initialText: string | undefined }} props `initialText`: the text in the address */
function SearchBox({ showsHint, initialText }) {
  const isAdmin = useHasRole('admin')
  const [text, setText] = useState(initialText ?? '')
  const [outcome, setOutcome] = useState(
    /** @type {{ text: string, results: import('./search/find.js').SearchResult[], error?: unknown } | undefined} */ (
      undefined
    ),
  )
  const { busy, error, run } = useAction()
  /** Aborts the search that a newer one replaces, or that no longer has a screen. */
  const newest = useRef(new AbortController())
  useEffect(() => () => newest.current.abort(), [])
  /** @param {string} query */
  const find = query =>
    run(async () => {
      newest.current.abort()
      if (!query) return
      newest.current = new AbortController()
      const { signal } = newest.current
      setOutcome(undefined)
      const { results, error: searchError } = await findRecords(query)
      if (signal.aborted) return
      const exact = results.filter(({ matchedText }) => matchedText.toLowerCase() === query.toLowerCase())
      const [only] = results.length === 1 ? results : exact.length === 1 ? exact : []
      if (only && !searchError) goTo(...getRoute(only))
      else setOutcome({ text: query, results, error: searchError })
    })
  useEffect(() => {
    if (initialText === undefined) return
    setText(initialText)
    find(initialText)
  }, [initialText])
  return html`<form class="search-box" role="search" aria-label="Search" onSubmit=${onSubmit(() => find(text.trim()))}>
      <input
        type="search"
        aria-label="Search text"
        placeholder="Name, email address, phone, number, SKU or barcode"
        aria-describedby=${showsHint ? 'search-hint' : undefined}
        autocomplete="off"
        autofocus
        value=${text}
        onInput=${(/** @type {any} */ event) => setText(event.currentTarget.value)}
      />
      <${Button} class="main" label="Search" busyLabel="Searching…" busy=${busy} />
    </form>
    ${showsHint && html`<p class="note" id="search-hint">${hint}</p>`}
    ${showsHint && !outcome && html`<${Lists} />`}
    ${error && html`<${Problem} error=${error} />`}
    ${outcome && html`<${Results} ...${outcome} isAdmin=${isAdmin} choose=${() => setOutcome(undefined)} />`}`
}

/** Links to the same search in the lists, because the results have only the first records of each type. @param {{ results: import('./search/find.js').SearchResult[], text: string }} props */
function ListLinks({ results, text }) {
  const paths = new Set(results.flatMap(({ type }) => recordLists[type] ?? []))
  const lists = useContext(PagesContext).filter(({ path }) => paths.has(path))
  return html`<p class="note">${t('All matching records:')} ${lists.map(({ path, title }) => html`<a key=${path} href=${linkToList(path, { q: text })}>${title}</a>${' '}`)}</p>`
}

/** Links to the lists of records. */
function Lists() {
  const lists = useContext(PagesContext).filter(({ group }) => group === t('Records'))
  return html`<section aria-label="Lists">
    <h2 class="small-title">Or browse a list</h2>
    <p class="chips">${lists.map(({ path, title }) => html`<a key=${path} class="chip" href=${linkTo(path)}>${title}</a>`)}</p>
    <p class="note">${rich('To search from any screen, press <code>/</code> or <code>Ctrl-K</code>.')}</p>
  </section>`
}

/** @param {{ text: string, results: import('./search/find.js').SearchResult[], error?: unknown, isAdmin: boolean, choose: () => void }} props */
const Results = ({
  text,
  results,
  error,
  isAdmin,
  choose,
}) => html`<section class="card" aria-label="Results" role="status">
  ${error && html`<${Problem} error=${error} remedy="The back office couldn't be searched, so an order may be missing." />`}
  ${
    results.length
      ? html`<p>${results.length === 1 ? rich('1 result for <b>{text}</b>', { text }) : rich('{count} results for <b>{text}</b>', { count: results.length, text })}</p>
        <${ResultLinks} results=${results} query=${text} choose=${choose} />
        <${ListLinks} results=${results} text=${text} />`
      : html`<p><b>${t('No results for {text}', { text })}</b></p>
        <p>${hint}</p>
        ${!isAdmin && html`<p>${rich('To open a voucher without admin rights you need its PIN: <link>open voucher {text}</link>', { text, link: content => html`<a href=${linkTo('search', 'voucher', text)} onClick=${choose}>${content}</a>` })}</p>`}`
  }
</section>`
