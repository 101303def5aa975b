import { useMemo, useState } from 'preact/hooks'
import { kinds } from 'tillbridge/kinds'
import { Action } from '../../components/action.js'
import { Chart } from '../../components/chart.js'
import { countColumn, duration, Facts, Moment, State } from '../../components/format.js'
import { List } from '../../components/list.js'
import { Problem } from '../../components/problem.js'
import { useLoad, useVersion } from '../../components/use-load.js'
import { ask, pageOf } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { useMay } from '../../lib/role.js'
import { linkTo } from '../../lib/route.js'
import { lags, runTone } from './run.js'

/** @type {import('../../components/table.js').Column[]} */
const columns = [
  {
    title: 'Began',
    value: run => html`<${Moment} moment=${run.startedAt} />`,
    text: run => run.startedAt,
    shrink: true,
  },
  {
    title: 'State',
    value: run => html`<${State} state=${run.state} tone=${runTone(run.state)} />`,
    text: run => run.state,
  },
  { title: 'What', value: run => (run.whole ? 'everything' : 'changes') },
  countColumn('Read', run => run.read),
  countColumn('New', run => run.new),
  countColumn('Changed', run => run.changed),
  countColumn('Unchanged', run => run.unchanged),
  countColumn('Removed', run => run.removed),
  countColumn('Refused', run => run.refused),
  {
    title: 'Took',
    name: 'Took (s)',
    right: true,
    value: run => duration(run.seconds),
    text: run => String(run.seconds),
  },
  {
    title: 'Notes',
    value: run =>
      [run.detail, ...run.notes.map((/** @type {any} */ { note, count }) => `${count} × ${note}`)]
        .filter(Boolean)
        .join('; ') || null,
  },
]

/** One feed: how it stands, its lag, its runs, and a run at once. @param {{ name: string }} props */
export function Feed({ name }) {
  const mayImport = useMay(kinds[name]?.role ?? 'maintainer') && kinds[name]
  const [version, again] = useVersion()
  const { data, error } = useLoad(signal => ask('/feeds', { signal }), [name, version])
  const feed = data?.data.find((/** @type {any} */ each) => each.feed === name)
  const drop = mayImport && html`<a href=${linkTo('import', name)}>Import a file of ${name}</a>`
  return html`<p class="trail"><a href=${linkTo('feeds')}>Feeds</a></p>
    <h1>${name}</h1>
    ${error && html`<${Problem} error=${error} />`}
    ${!data && !error && html`<p class="opening" role="status">Loading…</p>`}
    ${data && !feed && html`<div class="empty">It is not pulled, and no file of it has come yet. ${drop}</div>`}
    ${feed && html`<${Found} feed=${feed} drop=${drop} version=${version} again=${again} />`}`
}

/** @param {{ feed: any, drop: unknown, version: number, again: () => void }} props */
function Found({ feed, drop, version, again }) {
  const path = `/feeds/${encodeURIComponent(feed.feed)}`
  const [asked, setAsked] = useState(false)
  const runs = useLoad(signal => ask(pageOf(`${path}/runs`, null), { signal }), [path, version])
  const points = useMemo(() => lags(runs.data?.data ?? []), [runs.data])
  const isPulled = feed.origin === 'backOffice'
  const run = (/** @type {boolean} */ whole) => () =>
    ask(`${path}/run`, { method: 'POST', body: { whole } }).then(() => {
      setAsked(true)
      again()
    })
  return html`<div class="card">
      <${Facts}
        facts=${[
          [
            'State',
            html`<${State} state=${feed.isLate ? 'late' : feed.state} tone=${feed.isLate ? 'bad' : runTone(feed.state)} />${feed.detail && html` <small>${feed.detail}</small>`}`,
          ],
          ['Age', feed.lagSeconds === null ? 'never brought' : duration(feed.lagSeconds)],
          ['Schedule', feed.everySeconds === null ? 'as files come' : `every ${duration(feed.everySeconds)}`],
          [
            'Next',
            feed.isAsked ? 'as soon as a worker has time' : feed.nextAt && new Date(feed.nextAt).toLocaleTimeString(),
          ],
          ['Last whole run', html`<${Moment} moment=${feed.wholeAt} />`],
        ]}
      />
      <p class="choices">
        ${
          isPulled &&
          html`<${Action} label="Pull changes" role="maintainer" main work=${run(false)} />
            <${Action} label="Pull everything" role="maintainer" work=${run(true)} confirm="All of it is read again, which may take long. What it does not show is taken away, unless that would be more than half." />`
        }
        <button onClick=${again}>Refresh</button>
        ${drop}
      </p>
      ${asked && html`<p role="status">A run is asked for; it begins as soon as a worker has time.</p>`}
    </div>
    ${points.times.length > 1 && html`<${Chart} title="Age of the data when a run had ended" unit="min" times=${points.times} lines=${points.lines} />`}
    <${List}
      path=${`${path}/runs`}
      caption="Runs of the last 30 days"
      columns=${columns}
      version=${version}
      tools=${html`<h2>Runs</h2>`}
      file=${`feed-${feed.feed}-runs`}
      empty=${`It has not run in the last 30 days. ${isPulled ? 'Pull changes begins a run.' : 'The next file begins one.'}`}
    />`
}
