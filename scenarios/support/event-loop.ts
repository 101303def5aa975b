/**
 * Watches how long this thread works without a pause. Measures CPU time, so that other processes of a busy machine don't count. `stop`
 * returns the longest stretch in milliseconds.
 */
export function watchEventLoop() {
  let last = process.threadCpuUsage()
  let longestMs = 0
  const sample = () => {
    const now = process.threadCpuUsage()
    longestMs = Math.max(longestMs, (now.user - last.user + now.system - last.system) / 1000)
    last = now
  }
  const timer = setInterval(sample, 1).unref()
  return {
    stop() {
      clearInterval(timer)
      sample()
      return longestMs
    },
  }
}
