import { defaultSettings } from '../src/domain/tenancy/service-settings.ts'
import { renderVoucherEmail } from '../src/mail/voucher-email.ts'
import { browserMissing } from '../test/support/browser.ts'
import { takePicture } from './take-picture.ts'

// Takes the screenshot of a voucher's email for `docs/`. Run it after the email has changed.
if (browserMissing) throw new Error(browserMissing)
const { html } = renderVoucherEmail(
  {
    number: '9123456789012345',
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
  {
    ...defaultSettings,
    retailerName: 'Luma',
    shopUrl: 'https://luma.example/gift-vouchers',
    supportEmail: 'help@luma.example',
  },
)
await takePicture('voucher-mail', html, { width: 720, height: 960 })
