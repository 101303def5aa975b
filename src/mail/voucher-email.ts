import type { Service } from '../domain/tenancy/service-settings.ts'
import { getDecimals } from '../domain/values/money.ts'
import { getSender, type QueuedEmail, type VoucherEmail } from '../store/mail/emails.ts'
import { html, raw } from './html.ts'
import { type EmailMessage, toOneLine } from './message.ts'

/** Builds the email of a queued voucher email. */
export const buildVoucherEmail = (waiting: QueuedEmail, service: Service): EmailMessage => ({
  from: { name: service.settings.retailerName, address: getSender(service) },
  to: { name: waiting.receiverName, address: waiting.receiverEmail },
  messageId: waiting.messageId,
  date: waiting.date,
  ...renderVoucherEmail(waiting, service.settings.retailerName),
})

/** Renders the email to the receiver of a gift voucher, as plain text and HTML with the same content. */
export function renderVoucherEmail(
  mail: VoucherEmail,
  retailer: string,
): { subject: string; text: string; html: string } {
  const view = {
    ...mail,
    retailer: toOneLine(retailer),
    receiverName: toOneLine(mail.receiverName),
    senderName: toOneLine(mail.senderName),
    amount: formatAmount(mail),
    expiry: mail.expiryDate && formatDate(mail.expiryDate),
  }
  return { subject: mail.subject, text: renderText(view), html: renderHtml(view).text }
}

interface VoucherEmailView extends VoucherEmail {
  retailer: string
  expiry: string | null
}

function renderText({
  retailer,
  amount,
  receiverName,
  senderName,
  message,
  number,
  pin,
  expiry,
  renewed,
}: VoucherEmailView) {
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
    `Voucher number: ${number}`,
    `PIN:            ${pin}`,
    ...(expiry ? [`Valid until:    ${expiry}`] : []),
    '',
    ...(renewed ? [newPinNotice, ''] : []),
    `${checkoutNotice} ${secrecyNotice}`,
    '',
  ].join('\n')
}

const newPinNotice = 'This is a new PIN. The PIN in any earlier email no longer works.'
const checkoutNotice = "You'll need the voucher number and PIN at checkout."
const secrecyNotice = 'Anyone with both can spend the voucher, so keep them private.'

const fonts = "font-family: -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif"
const ink = '#1d2b2a'
const pale = '#5d6b69'
const green = '#14524a'

/** Uses tables and inline styles, which all mail programs support. It loads nothing and has no links, so nothing tracks the reader. */
const renderHtml = ({
  retailer,
  amount,
  receiverName,
  senderName,
  message,
  number,
  pin,
  expiry,
  renewed,
}: VoucherEmailView) => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light">
<title>${retailer}: a gift voucher for ${amount}</title>
</head>
<body style="margin: 0; padding: 0; background: #eef2f0; ${raw(fonts)}; color: ${ink}">
<div style="display: none; max-height: 0; overflow: hidden">${senderName} sent you a gift voucher for ${amount}.</div>
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="background: #eef2f0">
<tr><td align="center" style="padding: 32px 12px">
<table role="presentation" width="560" cellpadding="0" cellspacing="0" style="width: 100%; max-width: 560px; background: #ffffff; border-radius: 12px; overflow: hidden; word-break: break-word; overflow-wrap: anywhere">
<tr><td style="background: ${green}; padding: 28px 36px; color: #ffffff">
<div style="font-size: 20px; font-weight: 600; line-height: 1.3">${retailer}</div>
<div style="font-size: 13px; line-height: 1.5; color: #bfe0d8">Gift voucher</div>
</td></tr>
<tr><td style="padding: 32px 36px 0; font-size: 16px; line-height: 1.55">
<p style="margin: 0 0 12px">Dear ${receiverName},</p>
<p style="margin: 0">${senderName} sent you a gift voucher${message === null ? '.' : ' with this message:'}</p>
${
  message === null
    ? ''
    : html`<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="margin-top: 16px"><tr>
<td style="border-left: 3px solid #9ccdc1; padding: 2px 0 2px 16px; color: ${pale}; font-size: 16px; line-height: 1.55; white-space: pre-line">${message}</td>
</tr></table>`
}
</td></tr>
<tr><td style="padding: 28px 36px 0">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="border: 1px solid #cfe0db; border-radius: 10px; background: #f5faf8">
<tr><td colspan="2" align="center" style="padding: 26px 20px 22px">
<div style="font-size: 13px; color: ${pale}; line-height: 1.4">Amount</div>
<div style="font-size: 38px; font-weight: 700; line-height: 1.25; color: ${green}">${amount}</div>
${expiry === null ? '' : html`<div style="font-size: 14px; color: ${pale}; line-height: 1.5">Valid until ${expiry}</div>`}
</td></tr>
<tr>
<td width="58%" align="center" style="border-top: 1px dashed #a9c7bf; padding: 18px 14px">${renderField('Voucher number', number)}</td>
<td width="42%" align="center" style="border-top: 1px dashed #a9c7bf; border-left: 1px dashed #a9c7bf; padding: 18px 14px">${renderField('PIN', pin)}</td>
</tr>
</table>
</td></tr>
<tr><td style="padding: 24px 36px 34px; font-size: 14px; line-height: 1.55; color: ${pale}">${renewed ? `${newPinNotice} ` : ''}${checkoutNotice} ${secrecyNotice}</td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`

const renderField = (
  label: string,
  value: string,
) => html`<div style="font-size: 13px; color: ${pale}; line-height: 1.5">${label}</div>
<div style="font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 20px; font-weight: 600; letter-spacing: 1px; line-height: 1.5">${value}</div>`

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
