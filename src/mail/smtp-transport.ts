import { createTransport } from 'nodemailer'
import type { Message } from './message.ts'
import { Undelivered } from './undelivered.ts'

/** Milliseconds. A server that keeps the connection busy without an end is left after the last one. */
const patience = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000, whole: 60_000 }

/**
 * Hands messages to the server that `smtp://` or `smtps://` names. Unless the server is on this machine, or the URL says
 * `?tls=off`, nothing is sent before the connection is encrypted and the server's certificate is right; `?tls=required` asks for
 * that on this machine too.
 */
export function smtpPost(smtpUrl: string, { ca, wholeMs = patience.whole }: { ca?: string; wholeMs?: number } = {}) {
  const url = new URL(smtpUrl)
  const secure = url.protocol === 'smtps:'
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const tls = url.searchParams.get('tls') ?? (isThisMachine(host) ? 'offered' : 'required')
  const transport = createTransport({
    host,
    port: Number(url.port) || (secure ? 465 : 587),
    secure,
    requireTLS: tls === 'required',
    ignoreTLS: tls === 'off',
    // A certificate that was made for this machine alone is nobody's mistake.
    tls: { ...(ca && { ca }), rejectUnauthorized: tls === 'required' || secure },
    ...(url.username && { auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) } }),
    connectionTimeout: patience.connectionTimeout,
    greetingTimeout: patience.greetingTimeout,
    socketTimeout: patience.socketTimeout,
  })
  return {
    async send({ from, to, bytes }: Message, signal: AbortSignal) {
      const deadline = AbortSignal.timeout(wholeMs)
      try {
        await transport.sendMail({
          envelope: { from, to: [to] },
          raw: bytes,
          signal: AbortSignal.any([signal, deadline]),
        })
      } catch (error) {
        if (deadline.aborted) throw new Undelivered(`The mail server took longer than ${wholeMs / 1_000} s.`)
        throw undeliveredFor(error as Failure)
      }
    },
  }
}

const isThisMachine = (host: string) => host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host)

/** What the library says of a failure. */
interface Failure {
  code?: string
  /** The system's, where it has one: ECONNREFUSED. */
  originalCode?: string
  responseCode?: number
  response?: string
  command?: string
}

/** The commands whose refusal is about this message, not about us. */
const aboutMessage = ['MAIL FROM', 'RCPT TO', 'DATA']
/** Refusals that end when somebody puts the settings right: login needed, or too weak (RFC 4954). */
const aboutLogin = [530, 534, 535, 538]

/** What goes wrong while a connection is being encrypted: the server will not, or its certificate is not right. */
const aboutEncryption = /CERT|SIGNATURE|SSL|TLS|^EPROTO$/

function undeliveredFor({ code = 'unknown', originalCode = code, responseCode, response = '', command = '' }: Failure) {
  if (aboutEncryption.test(originalCode))
    return new Undelivered(
      `The connection to the mail server cannot be encrypted (${originalCode}): nothing was sent.`,
      { everyMail: true },
    )
  if (responseCode === undefined) return new Undelivered(`The mail server cannot be reached: ${originalCode}.`)
  // The words after the codes may repeat what was sent.
  const [, enhanced] = /^\d{3}[ -]([245]\.\d{1,3}\.\d{1,3})\b/.exec(response) ?? []
  const answer = `${responseCode}${enhanced ? ` ${enhanced}` : ''}${command ? ` at ${command}` : ''}`
  if (code === 'EAUTH' || aboutLogin.includes(responseCode))
    return new Undelivered(`The mail server refuses the login: ${answer}.`, { everyMail: true })
  const final = responseCode >= 500 && aboutMessage.includes(command)
  return new Undelivered(
    `The mail server ${final ? 'refuses the message' : 'does not take the message now'}: ${answer}.`,
    {
      final,
    },
  )
}
