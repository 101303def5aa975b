// Made of the operations of the API by `npm run docs`.
import type { CallOptions, Calls, Paging, WriteOptions } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { Walk } from '../calls/walk.ts'
import type { Feed, FeedRun, FeedRunInput } from '../shapes/feeds.ts'

/** How fresh the data is: what is pulled from a back office or comes as files, and what became of each run. */
export interface FeedsApi {
  /** The feeds of the service: how each stands, and what its last run came to. What is pulled from a back office, in the order in which one needs the other, and then the kinds of which a file has come. */
  list(options?: CallOptions): Promise<Feed[]>
  /** The runs of a feed, the newest first. Of the last 30 days. One that is under way tells how far it has come. */
  runs(feed: string, query?: Paging, options?: CallOptions): Walk<FeedRun>
  /** Pulls a feed now: what has changed, or everything. As soon as a worker has time; where a run is under way, another one follows it. The runs of the feed, at `Location`, tell what becomes of it. */
  run(feed: string, body: FeedRunInput, options?: WriteOptions): Promise<Feed>
}

export const feeds = (call: Calls): FeedsApi => ({
  list: (options) => call.get('/feeds', {}, options),
  runs: (feed, query, options) => call.list(`/feeds/${segment(feed)}/runs`, query, options),
  run: (feed, body, options) => call.post(`/feeds/${segment(feed)}/run`, body, options),
})
