import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultSettings } from '../../../src/domain/tenancy/service-settings.ts'
import { renderAlertEmail } from '../../../src/mail/alert-email.ts'
import { renderVoucherEmail } from '../../../src/mail/voucher-email.ts'
import { browserMissing, withHtmlPage } from '../../support/browser.ts'
import { assertAccessible } from '../../support/console/axe.ts'
import { giftEmail } from '../../support/mailing.ts'

const skip = browserMissing ?? false
const appearances = [
  { width: 320, height: 900, colours: 'light' },
  { width: 720, height: 900, colours: 'dark' },
] as const
const branding = { shopUrl: 'https://luma.example/gifts', supportEmail: 'help@luma.example' }

test('a voucher email is readable on a phone and in dark mode', { skip }, async () => {
  for (const brandColour of ['#14524a', '#ffd400']) {
    const settings = { ...defaultSettings, retailerName: 'Luma', ...branding, brandColour }
    const { html } = renderVoucherEmail({ ...giftEmail, number: '9123456789012345', renewed: true }, settings)
    await withHtmlPage(html, appearances[0], async page => {
      for (const appearance of appearances) {
        await page.setAppearance(appearance)
        const title = `${brandColour} ${appearance.colours}`
        await assertAccessible(page, title, ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'])
        const { overflow, lines } = await page.evaluate<{ overflow: number; lines: number }>(`({
          overflow: document.documentElement.scrollWidth - innerWidth,
          lines: new Set([...document.querySelectorAll('span')].slice(0, 4).map(part => part.getBoundingClientRect().top)).size,
        })`)
        assert.deepEqual([overflow <= 0, lines], [true, 1], title)
      }
      assert.deepEqual(page.pageErrors, [])
    })
  }
})

test('an alert email is readable in light and in dark', { skip }, async () => {
  const alert = { kind: 'sync_failing', subject: 'stock', detail: 'back_office_unavailable (5 times)' } as const
  await withHtmlPage(renderAlertEmail('luma', alert, 'https://api.example.com').html, {}, async page => {
    for (const appearance of appearances) {
      await page.setAppearance(appearance)
      await assertAccessible(page, appearance.colours, ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'])
    }
  })
})
