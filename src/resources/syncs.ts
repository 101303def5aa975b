import type { Db } from '../database/db.ts'
import { Feed, FeedRun, FeedRunInput, feedName } from '../domain/sync/syncs.ts'
import { notFound } from '../errors/api-error.ts'
import type { Context } from '../http/routing/operation.ts'
import { get, list, post } from '../http/routing/route-definitions.ts'
import { kinds } from '../import/pipeline/import-types.ts'
import { Type } from '../schemas/schemas.ts'
import { runPage } from '../store/sync/runs.ts'
import { askForRun, feedRecords, isFeed } from '../store/sync/sync-list.ts'

const [tag, kind] = ['Feeds', 'feed'] as const
const params = { feed: feedName }

/** How fresh the data is, what became of each run, and a run at once. */
export const feeds = [
  get(
    '/feeds',
    {
      operationId: 'listFeeds',
      tag,
      summary: 'List syncs',
      description:
        'What is pulled from a back office, in the order in which one needs the other, and then the kinds of which a file has come.',
      answer: Type.Array(Feed),
    },
    async context => ({ record: await standing(context.db, context) }),
  ),

  list(
    '/feeds/:feed/runs',
    {
      operationId: 'listFeedRuns',
      tag,
      summary: 'List sync runs',
      description: 'Of the last 30 days. One that is under way tells how far it has come.',
      params,
      item: FeedRun,
    },
    async ({ db, service, driver, params: { feed } }, asked) => {
      const isPulled = driver.feeds.some(({ name }) => name === feed)
      if (!isPulled && !(await isFeed(db, service, feed))) throw notFound(kind)
      return runPage(db, service, feed, asked)
    },
  ),

  post(
    '/feeds/:feed/run',
    {
      operationId: 'runFeed',
      tag,
      status: 202,
      summary: 'Start a sync',
      description:
        'As soon as a worker has time; where a run is under way, another one follows it. The runs of the feed, at `Location`, tell what becomes of it.',
      params,
      body: FeedRunInput,
      answer: Feed,
    },
    context => async tx => {
      const { service, driver, params, body } = context
      if (!driver.feeds.some(({ name }) => name === params.feed)) throw notFound(kind)
      await askForRun(tx, service, params.feed, body.whole ?? false)
      const all = JSON.parse(await standing(tx, context)) as Feed[]
      const data = all.find(({ feed }) => feed === params.feed)
      return { data, subject: `/feeds/${encodeURIComponent(params.feed)}/runs` }
    },
  ),
]

/** The records (`Feed`) of the feeds of a service, as one JSON text. */
export const standing = (db: Db, { service, driver }: Pick<Context, 'service' | 'driver'>) =>
  feedRecords(
    db,
    service,
    driver.feeds.map(({ name, everySeconds }) => ({ name, everySeconds })),
    Object.keys(kinds),
  )
