import type { Service } from '../domain/tenancy/service-settings.ts'
import { decimalsOf } from '../domain/values/money.ts'
import { senderOf, type VoucherMail, type Waiting } from '../store/mail/mails.ts'
import { html, raw } from './html.ts'
import { type Letter, oneLine } from './message.ts'

/** The letter that a queued voucher mail becomes. */
export const voucherLetter = (waiting: Waiting, service: Service): Letter => ({
  from: { name: service.settings.retailerName, address: senderOf(service) },
  to: { name: waiting.receiverName, address: waiting.receiverEmail },
  messageId: waiting.messageId,
  date: waiting.date,
  ...voucherMail(waiting, service.settings.retailerName),
})

/** What the receiver of a gift voucher reads, in two forms that say the same. */
export function voucherMail(mail: VoucherMail, retailer: string): { subject: string; text: string; html: string } {
  const shown = {
    ...mail,
    retailer: oneLine(retailer),
    receiverName: oneLine(mail.receiverName),
    senderName: oneLine(mail.senderName),
    amount: inWords(mail),
    expiry: mail.expiryDate && longDate(mail.expiryDate),
  }
  return { subject: mail.subject, text: textOf(shown), html: htmlOf(shown).text }
}

interface Shown extends VoucherMail {
  retailer: string
  expiry: string | null
}

function textOf({ retailer, amount, receiverName, senderName, message, number, pin, expiry, renewed }: Shown) {
  // Quoted line by line, so that nothing in it can pass for a line of ours.
  const quoted = message === null ? [] : ['', ...message.split(/\r\n|\r|\n/).map(line => `> ${line}`.trimEnd())]
  return [
    `${retailer}: a gift voucher for ${amount}`,
    '',
    `Dear ${receiverName},`,
    '',
    `${senderName} has sent you a gift voucher${quoted.length ? ', and writes:' : '.'}`,
    ...quoted,
    '',
    `Amount:         ${amount}`,
    `Voucher number: ${number}`,
    `PIN:            ${pin}`,
    ...(expiry ? [`Valid until:    ${expiry}`] : []),
    '',
    ...(renewed ? [newPin, ''] : []),
    `${howToUse} ${keepSafe}`,
    '',
  ].join('\n')
}

const newPin = 'The PIN is a new one: that of an earlier e-mail opens the voucher no more.'
const howToUse = 'Have the number and the PIN at hand when you pay.'
const keepSafe = 'Whoever has both can spend the voucher, so keep them to yourself.'

const fonts = "font-family: -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif"
const ink = '#1d2b2a'
const pale = '#5d6b69'
const green = '#14524a'

/** Tables and inline styles: what mail programs agree on. No pictures, no fonts and no links: nothing is loaded, nothing tracks. */
const htmlOf = ({
  retailer,
  amount,
  receiverName,
  senderName,
  message,
  number,
  pin,
  expiry,
  renewed,
}: Shown) => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light">
<title>${retailer}: a gift voucher for ${amount}</title>
</head>
<body style="margin: 0; padding: 0; background: #eef2f0; ${raw(fonts)}; color: ${ink}">
<div style="display: none; max-height: 0; overflow: hidden">${senderName} has sent you a gift voucher for ${amount}.</div>
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="background: #eef2f0">
<tr><td align="center" style="padding: 32px 12px">
<table role="presentation" width="560" cellpadding="0" cellspacing="0" style="width: 100%; max-width: 560px; background: #ffffff; border-radius: 12px; overflow: hidden; word-break: break-word; overflow-wrap: anywhere">
<tr><td style="background: ${green}; padding: 28px 36px; color: #ffffff">
<div style="font-size: 20px; font-weight: 600; line-height: 1.3">${retailer}</div>
<div style="font-size: 13px; line-height: 1.5; color: #bfe0d8">Gift voucher</div>
</td></tr>
<tr><td style="padding: 32px 36px 0; font-size: 16px; line-height: 1.55">
<p style="margin: 0 0 12px">Dear ${receiverName},</p>
<p style="margin: 0">${senderName} has sent you a gift voucher${message === null ? '.' : ', and writes:'}</p>
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
<td width="58%" align="center" style="border-top: 1px dashed #a9c7bf; padding: 18px 14px">${field('Voucher number', number)}</td>
<td width="42%" align="center" style="border-top: 1px dashed #a9c7bf; border-left: 1px dashed #a9c7bf; padding: 18px 14px">${field('PIN', pin)}</td>
</tr>
</table>
</td></tr>
<tr><td style="padding: 24px 36px 34px; font-size: 14px; line-height: 1.55; color: ${pale}">${renewed ? `${newPin} ` : ''}${howToUse} ${keepSafe}</td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`

const field = (
  label: string,
  value: string,
) => html`<div style="font-size: 13px; color: ${pale}; line-height: 1.5">${label}</div>
<div style="font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 20px; font-weight: 600; letter-spacing: 1px; line-height: 1.5">${value}</div>`

/** `AUD 1,500.00`: the code, because a dollar sign is the sign of many currencies. */
function inWords({ amount, currency }: Pick<VoucherMail, 'amount' | 'currency'>) {
  const digits = decimalsOf(currency)
  const format = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
    currencyDisplay: 'code',
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  })
  return format.format(amount as Intl.StringNumericLiteral).replaceAll('\u00a0', ' ')
}

const longDate = (date: string) => Temporal.PlainDate.from(date).toLocaleString('en-GB', { dateStyle: 'long' })
