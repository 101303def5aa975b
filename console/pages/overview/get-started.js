import { callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { linkTo } from '../../lib/route.js'
import { t } from '../../lib/text.js'
import { useSection } from './sections.js'

/**
 * The first steps of a new service. Each is ticked when it is done. Disappears when all are done.
 * @param {{ syncs: any[] | undefined, webhooks: any[] | undefined, overview: import('./sections.js').Overview }} props
 */
export function GetStarted({ syncs, webhooks, overview }) {
  const { data } = useSection('steps', overview, async signal => {
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
  if (!data || !syncs || !webhooks) return null
  const steps = [
    {
      isDone: data.hasProduct || syncs.some(sync => sync.lastRun),
      title: t('Import a file or connect a back office'),
      route: linkTo('import'),
    },
    { isDone: data.hasProgram, title: t('Create an account with an API key for your shop'), route: linkTo('api-keys') },
    { isDone: data.hasOrder, title: t('Place a test order'), route: 'docs', isDocument: true },
    { isDone: webhooks.length > 0, title: t('Add a webhook'), route: linkTo('webhooks') },
  ]
  const done = steps.filter(({ isDone }) => isDone).length
  // A service that works already needs no introduction.
  if (done === steps.length || (steps[0]?.isDone && data.hasOrder)) return null
  return html`<section class="card get-started" aria-label="Get started">
    <h2 class="small-title">Get started <small>${t('{done} of {total} done', { done, total: steps.length })}</small></h2>
    <ol class="bar-rows">
      ${steps.map(
        ({ isDone, title, route, isDocument }) => html`<li key=${title} class=${isDone ? 'step done' : 'step'}>
          <span aria-hidden="true">${isDone ? '✓' : '○'}</span>
          ${isDone ? html`<span>${title} <span class="hidden">(done)</span></span>` : html`<a href=${route} target=${isDocument && '_blank'}>${title}</a>`}
        </li>`,
      )}
    </ol>
  </section>`
}
