import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { withHtmlPage } from '../test/support/browser.ts'

/** Uses Debian's fonts-inter and fonts-jetbrains-mono if they are installed. */
export function useFonts() {
  process.env.FONTCONFIG_FILE = fileURLToPath(new URL('console-fonts.conf', import.meta.url))
}

/** Halves the size of a picture if Debian's pngquant is installed. */
export function reduceColours(picture: Buffer): Buffer {
  const { status, stdout } = spawnSync('pngquant', ['--quality=80-100', '-'], { input: picture })
  return status === 0 ? stdout : picture
}

/** Takes a picture of an HTML document in this size and writes it to `docs/images/`. */
export async function takePicture(name: string, html: string, size: { width: number; height: number }) {
  await withHtmlPage(html, size, async page => {
    const picture = reduceColours(await page.screenshot())
    await writeFile(new URL(`../docs/images/${name}.png`, import.meta.url), picture)
    console.log(`docs/images/${name}.png: ${Math.round(picture.length / 1024)} KiB`)
    if (page.pageErrors.length) console.log(page.pageErrors.join('\n'))
  })
}
