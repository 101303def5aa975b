import { html } from '../../lib/html.js'
import { linkTo } from '../../lib/route.js'
import { formatNumber, plural, t } from '../../lib/text.js'
import { stateNames } from './columns.js'

/** The states of records in the order of the bar, with their colours. @type {[state: string, colour: string][]} */
const segments = [
  ['matched', 'good'],
  ['nearMatch', 'warn'],
  ['unmapped', 'bad'],
  ['orphaned', 'bad'],
  ['duplicate', 'bad'],
  ['unverified', 'muted'],
]

/** Rounds down, so that only a complete kind has 100 %. @param {number} part @param {number} total */
const formatShare = (part, total) => `${Math.floor((100 * part) / total)} %`

/** A bar per kind with the states of its records. @param {{ kinds: any[], kind: string, state: string, titles: Record<string, string> }} props */
export const HealthBars = ({
  kinds,
  kind,
  state,
  titles,
}) => html`<div class="health-bars" role="group" aria-label="Kinds">
  ${kinds.map(({ kind: name, states }) => {
    const total = segments.reduce((sum, [segment]) => sum + states[segment], 0)
    const problems = total - states.matched - states.unverified
    const text =
      total === 0
        ? t('not checked')
        : problems === 0
          ? t('{share} matched, no problems', { share: formatShare(states.matched, total) })
          : plural(problems, '{share} matched, {count} problem', '{share} matched, {count} problems', {
              share: formatShare(states.matched, total),
            })
    return html`<a key=${name} class="kind" href=${linkTo('mappings', 'check', name, state)} aria-current=${name === kind ? 'true' : undefined}>
      <span><b>${titles[name]}</b> <small>${text}</small></span>
      <span class="share" aria-hidden="true">${segments
        .filter(([segment]) => states[segment] > 0)
        .map(
          ([segment, colour]) =>
            html`<i key=${segment} class=${colour} title=${`${stateNames[segment]}: ${formatNumber(states[segment])}`} style=${{ flexGrow: states[segment] }}></i>`,
        )}</span>
    </a>`
  })}
</div>`
