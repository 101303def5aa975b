import type { Service, Settings } from '../domain/tenancy/service-settings.ts'
import { getDecimals } from '../domain/values/money.ts'
import { getSender, type QueuedEmail, type VoucherEmail } from '../store/mail/emails.ts'
import { html, raw } from './html.ts'
import { type EmailMessage, toOneLine } from './message.ts'

/** The settings that shape the emails to shoppers. */
type Branding = Pick<Settings, 'retailerName' | 'logoUrl' | 'brandColour' | 'shopUrl' | 'supportEmail'>

export const buildVoucherEmail = (queued: QueuedEmail, service: Service): EmailMessage => ({
  from: { name: service.settings.retailerName, address: getSender(service) },
  to: { name: queued.receiverName, address: queued.receiverEmail },
  messageId: queued.messageId,
  date: queued.date,
  ...renderVoucherEmail(queued, service.settings),
})

/** Renders the email to the receiver of a gift voucher, as plain text and HTML with the same content. */
export function renderVoucherEmail(
  mail: VoucherEmail,
  branding: Branding,
): { subject: string; text: string; html: string } {
  const view = {
    ...mail,
    ...branding,
    retailer: toOneLine(branding.retailerName),
    receiverName: toOneLine(mail.receiverName),
    senderName: toOneLine(mail.senderName),
    amount: formatAmount(mail),
    expiry: mail.expiryDate && formatDate(mail.expiryDate),
  }
  return { subject: mail.subject, text: renderText(view), html: renderHtml(view).text }
}

interface VoucherEmailView extends VoucherEmail, Branding {
  retailer: string
  expiry: string | null
}

function renderText(view: VoucherEmailView) {
  const { retailer, amount, receiverName, senderName, message, number, pin, expiry, renewed, shopUrl } = view
  // Each line is quoted, so the message can't imitate a line of the email, such as the PIN.
  const quoted = message === null ? [] : ['', ...message.split(/\r\n|\r|\n/).map(line => `> ${line}`.trimEnd())]
  return [
    `${retailer}: a gift voucher for ${amount}`,
    '',
    `Dear ${receiverName},`,
    '',
    `${senderName} sent you a gift voucher${quoted.length ? ' with this message:' : '.'}`,
    ...quoted,
    '',
    `Amount:         ${amount}`,
    // In one piece, because a shopper copies it into the shop's form.
    `Voucher number: ${number}`,
    `PIN:            ${pin}`,
    ...(expiry ? [`Valid until:    ${expiry}`] : []),
    ...(shopUrl ? [`Shop:           ${shopUrl}`] : []),
    '',
    ...(renewed ? [newPinNotice, ''] : []),
    `${checkoutNotice} ${secrecyNotice}`,
    '',
    describeHelp(view),
    '',
  ].join('\n')
}

const newPinNotice = 'This is a new PIN. The PIN in any earlier email no longer works.'
const checkoutNotice = "You'll need the voucher number and PIN at checkout."
const secrecyNotice = 'Anyone with both can spend the voucher, so keep them private.'

/** Explains how to check the balance, and whom to ask. */
function describeHelp({ retailer, shopUrl, supportEmail }: VoucherEmailView) {
  const balance = shopUrl
    ? `To check the balance, enter the voucher number and PIN at ${new URL(shopUrl).host}.`
    : `To check the balance, ask ${retailer} and have the voucher number ready.`
  return supportEmail ? `${balance} Questions? Write to ${supportEmail}, but never send your PIN.` : balance
}

const fonts = "font-family: -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif"
const ink = '#1d2b2a'
const pale = '#5d6b69'
const panel = '#f5faf8'

/** Colours for dark mode, and smaller margins for phones. Mail programs without media queries show the inline styles. */
const styles = raw(`
:root { color-scheme: light dark; supported-color-schemes: light dark }
@media (max-width: 480px) { .pad { padding-left: 20px !important; padding-right: 20px !important } }
@media (prefers-color-scheme: dark) {
.page { background: #101716 !important }
.card { background: #1a2422 !important; color: #e8efed !important }
.panel { background: #22302d !important; border-color: #40524e !important }
.rule { border-color: #40524e !important }
.pale { color: #a9b8b4 !important }
.amount, .link { color: #e8efed !important }
}
`)

/** Uses tables and inline styles, which all mail programs support. It loads only the logo, if there is one. */
function renderHtml(view: VoucherEmailView) {
  const { retailer, amount, receiverName, senderName, message, number, pin, expiry, renewed } = view
  const { logoUrl, brandColour, shopUrl, supportEmail } = view
  // The text colour with the higher contrast to the retailer's colour.
  const onBrand = contrast(brandColour, '#ffffff') >= contrast(brandColour, ink) ? '#ffffff' : ink
  // The retailer's colour, if its contrast is sufficient for text (WCAG 2.2, 1.4.3).
  const amountColour = contrast(brandColour, panel) >= 4.5 ? brandColour : ink
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<meta name="format-detection" content="telephone=no, date=no, address=no, email=no">
<title>${retailer}: a gift voucher for ${amount}</title>
<style>${styles}</style>
</head>
<body class="page" style="margin: 0; padding: 0; background: #eef2f0; ${raw(fonts)}; color: ${ink}">
<div style="display: none; max-height: 0; overflow: hidden">${senderName} sent you a gift voucher for ${amount}.</div>
<table class="page" role="presentation" width="100%" cellpadding="0" cellspacing="0" style="background: #eef2f0">
<tr><td align="center" style="padding: 32px 12px">
<table class="card" role="presentation" width="560" cellpadding="0" cellspacing="0" style="width: 100%; max-width: 560px; background: #ffffff; border-radius: 12px; overflow: hidden; word-break: break-word; overflow-wrap: anywhere">
<tr><td class="pad" style="background: ${brandColour}; padding: 28px 36px; color: ${onBrand}">
${
  logoUrl
    ? html`<img src="${logoUrl}" alt="${retailer}" height="40" style="display: block; height: 40px; max-width: 240px; padding: 8px 12px; margin-bottom: 10px; background: #ffffff; border-radius: 8px; color: ${ink}">`
    : html`<div style="font-size: 20px; font-weight: 600; line-height: 1.3">${retailer}</div>`
}
<div style="font-size: 13px; line-height: 1.5">Gift voucher</div>
</td></tr>
<tr><td class="pad" style="padding: 32px 36px 0; font-size: 16px; line-height: 1.55">
<p style="margin: 0 0 12px">Dear ${receiverName},</p>
<p style="margin: 0">${senderName} sent you a gift voucher${message === null ? '.' : ' with this message:'}</p>
${
  message === null
    ? ''
    : html`<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="margin-top: 16px"><tr>
<td class="pale" style="border-left: 3px solid #9ccdc1; padding: 2px 0 2px 16px; color: ${pale}; font-size: 16px; line-height: 1.55; white-space: pre-line">${message}</td>
</tr></table>`
}
</td></tr>
<tr><td class="pad" style="padding: 28px 36px 0">
<table class="panel" role="presentation" width="100%" cellpadding="0" cellspacing="0" style="border: 1px solid #cfe0db; border-radius: 10px; background: ${panel}">
<tr><td align="center" style="padding: 26px 12px 22px">
<div class="pale" style="font-size: 13px; color: ${pale}; line-height: 1.4">Amount</div>
<div class="amount" style="font-size: 38px; font-weight: 700; line-height: 1.25; color: ${amountColour}">${amount}</div>
${expiry === null ? '' : html`<div class="pale" style="font-size: 14px; color: ${pale}; line-height: 1.5">Valid until ${expiry}</div>`}
</td></tr>
<tr><td class="rule" align="center" style="border-top: 1px dashed #a9c7bf; padding: 18px 12px">${renderField('Voucher number', splitNumber(number))}</td></tr>
<tr><td class="rule" align="center" style="border-top: 1px dashed #a9c7bf; padding: 18px 12px">${renderField('PIN', [pin])}</td></tr>
</table>
</td></tr>
${
  shopUrl
    ? html`<tr><td class="pad" align="center" style="padding: 28px 36px 0"><table role="presentation" cellpadding="0" cellspacing="0"><tr>
<td align="center" style="background: ${brandColour}; border-radius: 8px"><a href="${shopUrl}" style="display: inline-block; padding: 13px 30px; font-size: 16px; font-weight: 600; line-height: 1.3; color: ${onBrand}; text-decoration: none">Shop at ${retailer}</a></td>
</tr></table></td></tr>`
    : ''
}
<tr><td class="pad pale" style="padding: 24px 36px 34px; font-size: 14px; line-height: 1.55; color: ${pale}">
<p style="margin: 0 0 10px">${renewed ? `${newPinNotice} ` : ''}${checkoutNotice} ${secrecyNotice}</p>
<p style="margin: 0">${linkAddress(describeHelp(view), supportEmail)}</p>
</td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`
}

/** Renders a label and a value. Margins separate its parts, so that a copied value has no spaces. A line can break only between parts. */
const renderField = (
  label: string,
  [first = '', ...parts]: readonly string[],
) => html`<div class="pale" style="font-size: 13px; color: ${pale}; line-height: 1.5">${label}</div>
<div style="font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 18px; font-weight: 600; letter-spacing: 0.5px; line-height: 1.5">${parts.reduce(
  (all, part) => html`${all}<wbr><span style="white-space: nowrap; margin-left: 8px">${part}</span>`,
  html`<span style="white-space: nowrap">${first}</span>`,
)}</div>`

/** Splits a long number into groups of four characters. A number that has separators of its own stays as it is. */
const splitNumber = (number: string) =>
  number.length > 8 && /^[A-Za-z\d]+$/.test(number) ? (number.match(/.{1,4}/g) ?? []) : [number]

/** Escapes text and links the email address in it. */
function linkAddress(text: string, address: string | null) {
  const [before = '', after] = address === null ? [text] : text.split(address)
  if (address === null || after === undefined) return html`${text}`
  return html`${before}<a class="link" href="mailto:${address}" style="color: ${ink}">${address}</a>${after}`
}

/** Formats an amount with the currency code, because many currencies share the dollar sign: `AUD 1,500.00`. */
function formatAmount({ amount, currency }: Pick<VoucherEmail, 'amount' | 'currency'>) {
  const digits = getDecimals(currency)
  const format = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
    currencyDisplay: 'code',
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  })
  return format.format(amount as Intl.StringNumericLiteral).replaceAll('\u00a0', ' ')
}

const formatDate = (date: string) => Temporal.PlainDate.from(date).toLocaleString('en-GB', { dateStyle: 'long' })

/** Returns the contrast ratio of two colours `#rrggbb`, from 1 to 21 (WCAG 2.2, "contrast ratio"). */
function contrast(a: string, b: string): number {
  const [darker = 0, lighter = 0] = [getLuminance(a), getLuminance(b)].sort((x, y) => x - y)
  return (lighter + 0.05) / (darker + 0.05)
}

function getLuminance(colour: string) {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map(at => {
    const channel = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
