/** Calls `runLane` `count` times concurrently, with the indexes from 0. Waits for all calls, even if one fails, then throws the first error. */
export async function runLanes(count: number, runLane: (index: number) => Promise<void>): Promise<void> {
  const lanes = await Promise.allSettled(Array.from({ length: count }, (_, index) => runLane(index)))
  const failed = lanes.find(lane => lane.status === 'rejected')
  if (failed) throw failed.reason
}
