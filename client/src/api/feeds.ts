// Made of the operations of the API by `npm run docs`.
import type { CallOptions, Calls, Paging, WriteOptions } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { Walk } from '../calls/walk.ts'
import type { Feed, FeedRun, FeedRunInput } from '../shapes/feeds.ts'

/** Syncs from the back office: schedule, lag and run history. */
export interface FeedsApi {
  /** List syncs. What is pulled from a back office, in the order in which one needs the other, and then the kinds of which a file has come. */
  list(options?: CallOptions): Promise<Feed[]>
  /** List sync runs. Of the last 30 days. One that is under way tells how far it has come. */
  runs(feed: string, query?: Paging, options?: CallOptions): Walk<FeedRun>
  /** Start a sync. As soon as a worker has time; where a run is under way, another one follows it. The runs of the feed, at `Location`, tell what becomes of it. */
  run(feed: string, body: FeedRunInput, options?: WriteOptions): Promise<Feed>
}

export const feeds = (call: Calls): FeedsApi => ({
  list: (options) => call.get('/feeds', {}, options),
  runs: (feed, query, options) => call.list(`/feeds/${segment(feed)}/runs`, query, options),
  run: (feed, body, options) => call.post(`/feeds/${segment(feed)}/run`, body, options),
})
