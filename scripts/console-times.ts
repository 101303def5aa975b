import { parseArgs } from 'node:util'
import { demoSettings, fillDemoShop } from '../seed/shop.ts'
import { createLink } from '../src/auth/sessions.ts'
import { browserMissing, openPage } from '../test/support/browser.ts'
import { startTestApi } from '../test/support/service.ts'

// Measures how soon the console shows its first screen in an empty browser, on the demo shop, and how many bytes it loads.
if (browserMissing) throw new Error(browserMissing)
const { rounds } = parseArgs({ options: { rounds: { type: 'string', default: '7' } } }).values
const service = await startTestApi({ settings: demoSettings })
const page = await openPage(service.baseUrl, { width: 1360, height: 850 })

interface Round {
  painted: number
  figures: number
  drawn: number
  bytes: number
  requests: number
}

/** Opens the console. Returns the milliseconds since the request of its address, as the page measures them. */
async function measureOpening(): Promise<Round> {
  await page.clearCache()
  await page.goTo('about:blank')
  const link = await createLink(service.db, service.keys, service.username)
  await page.goTo(`${service.baseUrl}/console#link=${link}`)
  const waitFor = async (expression: string) => {
    await page.waitUntil(expression)
    return page.evaluate<number>('performance.now()')
  }
  const figures = await waitFor(`document.querySelectorAll('.figure b').length >= 6`)
  const loaded = await page.evaluate<Pick<Round, 'painted' | 'bytes' | 'requests'>>(`(() => {
    const loaded = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
    return {
      painted: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN,
      bytes: loaded.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
      requests: loaded.length,
    }
  })()`)
  return { ...loaded, figures, drawn: await waitFor(`document.querySelector('.chart canvas')`) }
}

try {
  await fillDemoShop(service.db, service.keys, service.service)
  const results: Round[] = []
  for (let round = 0; round < Number(rounds); round++) results.push(await measureOpening())
  const printTimes = (label: string, value: (round: Round) => number, unit: string) => {
    const sorted = results.map(value).sort((a, b) => a - b)
    const [best, median, worst] = [sorted[0], sorted[sorted.length >> 1], sorted.at(-1)]
    console.log(
      `${label}: ${[best, median, worst].map(seconds => Math.round(seconds ?? Number.NaN)).join(', ')} ${unit}`,
    )
  }
  console.log(`The first screen, ${results.length} times, with an empty cache: best, median, worst`)
  printTimes('first paint', ({ painted }) => painted, 'ms')
  printTimes('all figures are shown', ({ figures }) => figures, 'ms')
  printTimes('the chart is drawn', ({ drawn }) => drawn, 'ms')
  printTimes('loaded until the figures are shown', ({ bytes }) => bytes / 1_000, 'KB')
  printTimes('loaded until the figures are shown', ({ requests }) => requests, 'requests')
} finally {
  await page.close()
  await service.stop()
}
