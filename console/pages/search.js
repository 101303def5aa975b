import { useState } from 'preact/hooks'
import { Button } from '../components/button.js'
import { onSubmit } from '../components/field.js'
import { Problem } from '../components/problem.js'
import { useAction } from '../components/use-load.js'
import { html } from '../lib/html.js'
import { useHasRole } from '../lib/role.js'
import { goTo, linkTo } from '../lib/route.js'
import { linkToSearch } from './requests/search.js'
import { Customer } from './search/customer.js'
import { findRecords } from './search/find.js'
import { Order } from './search/order.js'
import { Product } from './search/product.js'
import { Return } from './search/return.js'
import { Sale } from './search/sale.js'
import { Voucher } from './search/voucher.js'

/** @type {Record<string, any>} */
const kinds = { customer: Customer, order: Order, return: Return, sale: Sale, product: Product, voucher: Voucher }

/** The API's path of each kind. @type {Record<string, string>} */
const apiPaths = {
  customer: 'customers',
  order: 'orders',
  return: 'returns',
  sale: 'transactions',
  product: 'products',
  voucher: 'vouchers',
}

/**
 * The search box, and the page of a record.
 * @param {{ parts: string[] }} props
 */
export function Screen({ parts: [kind = '', id = ''] }) {
  const isAdmin = useHasRole('admin')
  const Record = id && Object.hasOwn(kinds, kind) ? kinds[kind] : undefined
  return html`<h1>Search</h1>
    <${SearchBox} showsHint=${!Record} />
    ${Record && html`<${Record} key=${`${kind} ${id}`} id=${id} />`}
    ${
      Record &&
      isAdmin &&
      // The API has no path for a single SKU.
      !id.startsWith('sku:') &&
      html`<p class="note"><a href=${linkToSearch({ record: `/${apiPaths[kind]}/${encodeURIComponent(id)}` })}>Requests about this ${kind}</a></p>`
    }`
}

/** @typedef {import('./search/find.js').Hit} Hit */

/** @param {boolean} isAdmin */
const getHint = isAdmin =>
  `Enter an exact number, code or email address of a customer, order, receipt, return, ${isAdmin ? 'voucher, ' : ''}product or SKU, or a customer's name or the start of a surname.`

/** @param {{ showsHint: boolean }} props */
function SearchBox({ showsHint }) {
  const isAdmin = useHasRole('admin')
  const [text, setText] = useState('')
  const [result, setResult] = useState(
    /** @type {{ text: string, hits: Hit[], errors: any[] } | undefined} */ (undefined),
  )
  const { busy, error, run } = useAction()
  const search = onSubmit(() =>
    run(async () => {
      const query = text.trim()
      if (!query) return
      setResult(undefined)
      const { hits, errors } = await findRecords(query, isAdmin)
      const [only] = hits
      if (only && hits.length === 1 && errors.length === 0) goTo('search', only.kind, only.id)
      else setResult({ text: query, hits, errors })
    }),
  )
  return html`<form class="search-box" role="search" onSubmit=${search}>
      <input
        type="search"
        aria-label="Search text"
        placeholder="Email address, name, number or SKU"
        aria-describedby=${showsHint ? 'search-hint' : undefined}
        autocomplete="off"
        autofocus
        value=${text}
        onInput=${(/** @type {any} */ event) => setText(event.currentTarget.value)}
      />
      <${Button} class="main" label="Search" busyLabel="Searching…" busy=${busy} />
    </form>
    ${showsHint && html`<p class="note" id="search-hint">${getHint(isAdmin)}</p>`}
    ${error && html`<${Problem} error=${error} />`}
    ${result && html`<${Hits} ...${result} isAdmin=${isAdmin} choose=${() => setResult(undefined)} />`}`
}

/** @param {{ text: string, hits: Hit[], errors: any[], isAdmin: boolean, choose: () => void }} props */
const Hits = ({ text, hits, errors, isAdmin, choose }) => html`<section class="card" aria-label="Results" role="status">
  ${errors.length > 0 && html`<${Problem} error=${errors[0]} remedy="Some records couldn't be searched, so results may be missing." />`}
  ${
    hits.length
      ? html`<p>${hits.length} results for <b>${text}</b></p>
        <ul class="hits">${hits.map(({ kind, id, title }) => html`<li key=${`${kind} ${id}`}><a href=${linkTo('search', kind, id)} onClick=${choose}>${kind} ${title}</a></li>`)}</ul>`
      : html`<p><b>No results for ${text}</b></p>
        <p>${getHint(isAdmin)}</p>
        ${!isAdmin && html`<p>To open a voucher without admin rights you need its PIN: <a href=${linkTo('search', 'voucher', text)} onClick=${choose}>open voucher ${text}</a></p>`}`
  }
</section>`
