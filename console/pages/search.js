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

/** Where the API has them. @type {Record<string, string>} */
const apiPaths = {
  customer: 'customers',
  order: 'orders',
  return: 'returns',
  sale: 'transactions',
  product: 'products',
  voucher: 'vouchers',
}

/**
 * One box for a customer, an order, a return, a sale, a voucher or a SKU, and what is known of it.
 * @param {{ parts: string[] }} props
 */
export function Screen({ parts: [kind = '', id = ''] }) {
  const isAdmin = useHasRole('admin')
  const Record = id && Object.hasOwn(kinds, kind) ? kinds[kind] : undefined
  return html`<h1>Search</h1>
    <${Box} isAlone=${!Record} />
    ${Record && html`<${Record} key=${`${kind} ${id}`} id=${id} />`}
    ${
      Record &&
      isAdmin &&
      // A SKU is no record of its own.
      !id.startsWith('sku:') &&
      html`<p class="note"><a href=${linkToSearch({ record: `/${apiPaths[kind]}/${encodeURIComponent(id)}` })}>Requests about this ${kind}</a></p>`
    }`
}

/** @typedef {import('./search/find.js').Hit} Hit */

/** What the box takes. @param {boolean} isAdmin */
const getHint = isAdmin =>
  `A customer's email address, name or id, an order, receipt or return number, ${isAdmin ? 'a voucher number, ' : ''}a SKU or a product code.`

/** @param {{ isAlone: boolean }} props `isAlone`: nothing is looked at yet */
function Box({ isAlone }) {
  const isAdmin = useHasRole('admin')
  const [text, setText] = useState('')
  const [found, setFound] = useState(/** @type {{ text: string, hits: Hit[] } | undefined} */ (undefined))
  const { busy, error, run } = useAction()
  const look = onSubmit(() =>
    run(async () => {
      const asked = text.trim()
      if (!asked) return
      setFound(undefined)
      const hits = await findRecords(asked, isAdmin)
      const [only] = hits
      if (only && hits.length === 1) goTo('search', only.kind, only.id)
      else setFound({ text: asked, hits })
    }),
  )
  return html`<form class="look" role="search" onSubmit=${look}>
      <input
        type="search"
        aria-label="What to look up"
        placeholder="E-mail address, name, number or SKU"
        aria-describedby=${isAlone ? 'what-may-be-looked-up' : undefined}
        autocomplete="off"
        autofocus
        value=${text}
        onInput=${(/** @type {any} */ event) => setText(event.currentTarget.value)}
      />
      <${Button} class="main" label="Look up" doing="Looking…" busy=${busy} />
    </form>
    ${isAlone && html`<p class="note" id="what-may-be-looked-up">${getHint(isAdmin)}</p>`}
    ${error && html`<${Problem} error=${error} />`}
    ${found && html`<${Hits} ...${found} choose=${() => setFound(undefined)} />`}`
}

/** @param {{ text: string, hits: Hit[], choose: () => void }} props */
const Hits = ({ text, hits, choose }) => html`<section class="card" aria-label="What was found" role="status">
  ${
    hits.length
      ? html`<p>${hits.length} records go by <b>${text}</b>:</p>
        <ul class="hits">${hits.map(({ kind, id, title }) => html`<li key=${`${kind} ${id}`}><a href=${linkTo('search', kind, id)} onClick=${choose}>${kind} ${title}</a></li>`)}</ul>`
      : html`<p><b>Nothing goes by ${text}.</b></p>
        <p>Records are found by their whole number, code or e-mail address, letter by letter, customers by the beginning of their surname too, or by both names. Who is no admin opens a voucher with its PIN.</p>
        <p><a href=${linkTo('search', 'voucher', text)} onClick=${choose}>open ${text} as a voucher</a>.</p>`
  }
</section>`
