import MailComposer from 'nodemailer/lib/mail-composer'

/** Somebody who sends or receives, with a name that is shown. */
interface Correspondent {
  name: string
  address: string
}

/** An e-mail with one sender, one receiver, and its text in two forms. */
export interface Letter {
  from: Correspondent
  to: Correspondent
  subject: string
  text: string
  html: string
  /** In angle brackets. */
  messageId: string
  date: Date
}

/** A letter as it goes over the wire, and to whom. */
export interface Message {
  from: string
  to: string
  messageId: string
  bytes: Buffer
}

/** It can never be sent as it is. */
export class Unsendable extends Error {}

/**
 * Puts a letter into its wire form (RFC 5322, MIME), the same bytes each time. Addresses are single mailboxes and never parsed from
 * a list; names and subject lose their line breaks and are encoded: nothing that is written in them becomes a header or a receiver.
 */
export async function compose({ from, to, subject, text, html, messageId, date }: Letter): Promise<Message> {
  for (const { address } of [from, to])
    if (!oneMailbox.test(address)) throw new Unsendable('The address is not one that mail can be sent to.')
  const bytes = await new MailComposer({
    from: { name: oneLine(from.name), address: from.address },
    to: { name: oneLine(to.name), address: to.address },
    subject: oneLine(subject),
    text,
    html,
    messageId,
    date,
    // RFC 3834: out-of-office programs do not answer.
    headers: { 'Auto-Submitted': 'auto-generated' },
    baseBoundary: messageId.slice(1, 37),
    disableFileAccess: true,
    disableUrlAccess: true,
  })
    .compile()
    .build()
  return { from: from.address, to: to.address, messageId, bytes }
}

/** One mailbox without quotes or comments. */
const oneMailbox = /^[^\s\p{Cc}@"(),:;<>[\\\]]{1,64}@[^\s\p{Cc}@"(),:;<>[\\\]]{1,255}$/u

/** A text without line breaks and other control characters. */
export const oneLine = (text: string) => text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()
