import { mkdtempSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { voucherMail } from '../src/mail/voucher-mail.ts'
import { localCertificate } from '../src/tls/tls.ts'
import { browserMissing, openPage } from '../test/support/browser.ts'

// Takes the picture of a voucher's e-mail that stands in `docs/`: run it after the e-mail has changed.
if (browserMissing) throw new Error(browserMissing)
const { html } = voucherMail(
  {
    number: '2062389',
    pin: '204816',
    amount: '150.00',
    currency: 'AUD',
    expiryDate: '2029-11-21',
    receiverName: 'Veronica Costello',
    receiverEmail: 'veronica@example.com',
    senderName: 'John Smith',
    message: 'Happy birthday, Veronica!\nTreat yourself to something warm for the winter.',
    subject: 'A gift voucher for you',
    deliveryDate: null,
  },
  'Luma',
)
const directory = mkdtempSync(join(tmpdir(), 'tillbridge-mail-'))
const { cert, key } = localCertificate(directory)
const server = createServer({ cert, key }, (_, response) => response.end(html))
await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
const baseUrl = `https://localhost:${(server.address() as AddressInfo).port}`
const page = await openPage(baseUrl, { width: 720, height: 720 })
try {
  await page.goTo(baseUrl)
  const picture = await page.screenshot()
  await writeFile(new URL('../docs/images/voucher-mail.png', import.meta.url), picture)
  console.log(`docs/images/voucher-mail.png: ${Math.round(picture.length / 1024)} KiB`)
} finally {
  await page.close()
  server.closeAllConnections()
  server.close()
  await rm(directory, { recursive: true, force: true })
}
