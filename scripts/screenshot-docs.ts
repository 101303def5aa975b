import { writeFile } from 'node:fs/promises'
import { browserMissing, openPage } from '../test/support/browser.ts'
import { startTestApi } from '../test/support/service.ts'

// Takes the screenshot of the API reference for `docs/`. Run it after the page has changed.
if (browserMissing) throw new Error(browserMissing)
const service = await startTestApi({ environment: { PORT: '8443' } })
const page = await openPage(service.baseUrl, { width: 1440, height: 860 })
try {
  await page.goTo(`${service.baseUrl}/docs/api`)
  const link = `document.querySelector('a[href$="GET/inventory"]')`
  const section = `document.querySelector('[id$="GET/inventory"]')`
  await page.until(link)
  await page.click(link)
  await page.until(`${section}?.innerText.includes('curl') && ${section}.innerText.includes('"freeStock"')`)
  // The page scrolls, and loads what comes into view, for a moment more.
  await page.until(`Math.abs(${section}.getBoundingClientRect().top) < 100`)
  await page.evaluate('new Promise(done => setTimeout(done, 1_500))')
  const picture = await page.screenshot()
  await writeFile(new URL('../docs/images/api-reference.png', import.meta.url), picture)
  console.log(`docs/images/api-reference.png: ${Math.round(picture.length / 1024)} KiB`)
} finally {
  await page.close()
  await service.stop()
}
