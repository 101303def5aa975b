import { countColumn, duration, Moment, State } from '../components/format.js'
import { Problem } from '../components/problem.js'
import { useLoad } from '../components/use-load.js'
import { WholeTable } from '../components/whole-table.js'
import { ask } from '../lib/api.js'
import { html } from '../lib/html.js'
import { linkTo } from '../lib/route.js'
import { BackOffice } from './feeds/back-office.js'
import { Feed } from './feeds/feed.js'
import { runTone } from './feeds/run.js'

/** @type {import('../components/table.js').Column[]} */
const columns = [
  {
    title: 'Feed',
    value: feed => html`<a href=${linkTo('feeds', feed.feed)}>${feed.feed}</a>`,
    text: feed => feed.feed,
  },
  {
    title: 'State',
    value: feed =>
      feed.isLate
        ? html`<${State} state="late" tone="bad" />`
        : html`<${State} state=${feed.state === 'none' ? 'never ran' : feed.state} tone=${runTone(feed.state)} />`,
    text: feed => (feed.isLate ? 'late' : feed.state === 'none' ? 'never ran' : feed.state),
  },
  {
    title: 'Age',
    name: 'Age (s)',
    right: true,
    value: feed => (feed.lagSeconds === null ? null : duration(feed.lagSeconds)),
    text: feed => String(feed.lagSeconds ?? ''),
  },
  {
    title: 'Every',
    name: 'Every (s)',
    right: true,
    value: feed => (feed.everySeconds === null ? 'by hand' : duration(feed.everySeconds)),
    text: feed => String(feed.everySeconds ?? 'by hand'),
  },
  {
    title: 'Last run',
    value: feed => feed.lastRun && html`<${Moment} moment=${feed.lastRun.startedAt} />`,
    text: feed => feed.lastRun?.startedAt ?? '',
  },
  countColumn('Read', feed => feed.lastRun?.read),
  countColumn('Changed', feed => feed.lastRun && feed.lastRun.new + feed.lastRun.changed),
  countColumn('Refused', feed => feed.lastRun?.refused),
]

/** How fresh the data is, what became of each run, and a run at once. @param {{ parts: string[] }} props */
export const Screen = ({ parts: [name] }) => (name ? html`<${Feed} key=${name} name=${name} />` : html`<${Feeds} />`)

function Feeds() {
  const { data, error } = useLoad(signal => ask('/feeds', { signal }).then(answer => answer.data), [])
  return html`<h1>Feeds</h1>
    <p class="lead">What fills the lists: how old each is against its schedule, and what its last run came to.</p>
    ${error && html`<${Problem} error=${error} />`}
    ${!data && !error && html`<p class="opening" role="status">Loading…</p>`}
    ${data?.length === 0 && html`<div class="empty">Nothing is pulled, and no file has come yet. <a href=${linkTo('import')}>Drop one</a>, or import it: <code>tillbridge import stock stock.csv</code></div>`}
    ${data?.length > 0 && html`<${WholeTable} caption="Feeds" columns=${columns} rows=${data} keyOf=${(/** @type {any} */ feed) => feed.feed} file="feeds" />`}
    <${BackOffice} />`
}
