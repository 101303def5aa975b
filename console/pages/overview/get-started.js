import { callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { linkTo } from '../../lib/route.js'
import { rich, t } from '../../lib/text.js'
import { useSection } from './sections.js'

/** @typedef {{ isDone: boolean, title: string, text: unknown, route: string, isDocument?: boolean }} Step */

/**
 * Loads the first steps of a service. Each is done if it has left a record. `isNew`: none is done.
 * @param {{ isAdmin: boolean, syncs: any[] | undefined, webhooks: any[] | undefined, overview: import('./sections.js').Overview }} props
 * @returns {{ steps: Step[], isNew: boolean } | undefined} undefined until it is loaded, and if the service works already or the account can't do the steps
 */
export function useFirstSteps({ isAdmin, syncs, webhooks, overview }) {
  const { data } = useSection('steps', overview, async signal => {
    if (!isAdmin) return undefined
    const [programs, products, orders] = await Promise.all([
      callApi('/accounts?is_program=true&limit=1', { signal }),
      callApi('/browse?table=products&limit=1', { signal }),
      callApi('/browse?table=orders&limit=1', { signal }),
    ])
    return {
      hasProgram: programs.data.length > 0,
      hasProduct: products.data.total !== 0,
      hasOrder: orders.data.total !== 0,
    }
  })
  if (!data || !syncs || !webhooks) return undefined
  const hasRecords = data.hasProduct || syncs.some(sync => sync.lastRun)
  const steps = [
    {
      isDone: hasRecords,
      title: t('Import a file or connect a back office'),
      text: rich('Stores, products, stock and customers. <link>How to connect</link>', {
        link: content => html`<a href=${linkTo('back-office')}>${content}</a>`,
      }),
      route: linkTo('import'),
    },
    {
      isDone: data.hasProgram,
      title: t('Create an account with an API key for your shop'),
      text: t('Your shop signs in with the key.'),
      route: linkTo('api-keys'),
    },
    {
      isDone: data.hasOrder,
      title: t('Place a test order'),
      text: t('The quickstart has the requests.'),
      route: 'docs/start/quickstart',
      isDocument: true,
    },
    {
      isDone: webhooks.length > 0,
      title: t('Add a webhook'),
      text: t('It sends each change to your systems.'),
      route: linkTo('webhooks'),
    },
  ]
  // A service that works already needs no introduction.
  if (steps.every(({ isDone }) => isDone) || (hasRecords && data.hasOrder)) return undefined
  return { steps, isNew: !steps.some(({ isDone }) => isDone) }
}

/** The first steps of a new service. @param {{ steps: Step[], isNew: boolean }} props */
export const GetStarted = ({ steps, isNew }) => html`<section class="card get-started" aria-label="Get started">
  <h2 class="small-title">Get started <small>${t('{done} of {total} done', { done: steps.filter(({ isDone }) => isDone).length, total: steps.length })}</small></h2>
  <ol>
    ${steps.map(
      ({ isDone, title, text, route, isDocument }) => html`<li key=${title} class=${isDone ? 'step done' : 'step'}>
        ${isDone ? html`<b>${title} <span class="hidden">(done)</span></b>` : html`<a href=${route} target=${isDocument && '_blank'}>${title}</a>`}
        <small>${text}</small>
      </li>`,
    )}
  </ol>
  ${isNew && html`<p class="note">Sales, orders, syncs and API requests appear here when the service has records.</p>`}
</section>`
