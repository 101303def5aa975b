import MailComposer from 'nodemailer/lib/mail-composer'

/** A sender or receiver. `name` is the display name. */
interface Mailbox {
  name: string
  address: string
}

/** An email with one sender, one receiver, and its content as plain text and HTML. */
export interface EmailMessage {
  from: Mailbox
  to: Mailbox
  subject: string
  text: string
  html: string
  /** In angle brackets. */
  messageId: string
  date: Date
}

/** An email in its wire form, with its envelope addresses. */
export interface ComposedMessage {
  from: string
  to: string
  messageId: string
  bytes: Buffer
}

/** Thrown for an address that no email can be sent to. Another attempt fails too. */
export class InvalidAddress extends Error {}

/** Thrown if a message was not delivered. The error message is fit for logs: it contains no address, password or quote of the server. */
export class DeliveryFailed extends Error {
  /** True if another attempt would fail too. */
  readonly isPermanent: boolean
  /** True if the server or a setting causes the failure, so that every email fails. */
  readonly affectsAllEmails: boolean

  constructor(message: string, { isPermanent = false, affectsAllEmails = false } = {}) {
    super(message)
    this.isPermanent = isPermanent
    this.affectsAllEmails = affectsAllEmails
  }
}

/**
 * Returns an email in its wire form (RFC 5322, MIME). The same email always has the same bytes. Throws `InvalidAddress` if an address isn't
 * a single mailbox. Prevents header injection: addresses are never parsed from a list, and names and subject are encoded without line breaks.
 */
export async function compose({
  from,
  to,
  subject,
  text,
  html,
  messageId,
  date,
}: EmailMessage): Promise<ComposedMessage> {
  for (const { address } of [from, to])
    if (!singleMailbox.test(address)) throw new InvalidAddress('The email address is invalid. Correct it.')
  const bytes = await new MailComposer({
    from: { name: toOneLine(from.name), address: from.address },
    to: { name: toOneLine(to.name), address: to.address },
    subject: toOneLine(subject),
    text,
    html,
    messageId,
    date,
    // RFC 3834: out-of-office programs don't reply.
    headers: { 'Auto-Submitted': 'auto-generated' },
    baseBoundary: messageId.slice(1, 37),
    disableFileAccess: true,
    disableUrlAccess: true,
  })
    .compile()
    .build()
  return { from: from.address, to: to.address, messageId, bytes }
}

/** Matches one mailbox without quotes or comments. */
const singleMailbox = /^[^\s\p{Cc}@"(),:;<>[\\\]]{1,64}@[^\s\p{Cc}@"(),:;<>[\\\]]{1,255}$/u

/** Replaces line breaks and other control characters by spaces. */
export const toOneLine = (text: string) => text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()
