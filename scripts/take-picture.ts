import { spawnSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ensureLocalCertificate } from '../src/tls/tls.ts'
import { openPage } from '../test/support/browser.ts'

/** Uses Debian's fonts-inter and fonts-jetbrains-mono if they are installed. */
export function useFonts() {
  process.env.FONTCONFIG_FILE = fileURLToPath(new URL('console-fonts.conf', import.meta.url))
}

/** Halves the size of a picture if Debian's pngquant is installed. */
export function inFewColours(picture: Buffer): Buffer {
  const { status, stdout } = spawnSync('pngquant', ['--quality=80-100', '-'], { input: picture })
  return status === 0 ? stdout : picture
}

/** Serves a page, takes a picture of it in this size and writes it to `docs/images/`. */
export async function takePicture(name: string, html: string, size: { width: number; height: number }) {
  const directory = mkdtempSync(join(tmpdir(), 'tillbridge-picture-'))
  const { cert, key } = ensureLocalCertificate(directory)
  const server = createServer({ cert, key }, (_, response) =>
    response.setHeader('content-type', 'text/html; charset=utf-8').end(html),
  )
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const baseUrl = `https://localhost:${(server.address() as AddressInfo).port}`
  const page = await openPage(baseUrl, size)
  try {
    await page.goTo(baseUrl)
    const picture = inFewColours(await page.screenshot())
    await writeFile(new URL(`../docs/images/${name}.png`, import.meta.url), picture)
    console.log(`docs/images/${name}.png: ${Math.round(picture.length / 1024)} KiB`)
    if (page.complaints.length) console.log(page.complaints.join('\n'))
  } finally {
    await page.close()
    server.closeAllConnections()
    server.close()
    await rm(directory, { recursive: true, force: true })
  }
}
