import { createTransport } from 'nodemailer'
import { type ComposedMessage, DeliveryFailed } from './message.ts'

/** Timeouts in milliseconds. `totalMs` also ends a delivery in which the server sends something now and then. */
const timeouts = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000, totalMs: 60_000 }

/**
 * Returns a transport for the server in an `smtp://` or `smtps://` URL. It sends nothing before the connection is encrypted and the server's
 * certificate is verified, unless the server is on this machine or the URL has `?tls=off`. `?tls=required` requires encryption on this
 * machine too.
 */
export function createSmtpTransport(
  smtpUrl: string,
  { ca, totalTimeoutMs = timeouts.totalMs }: { ca?: string; totalTimeoutMs?: number } = {},
) {
  const url = new URL(smtpUrl)
  const secure = url.protocol === 'smtps:'
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const tls = url.searchParams.get('tls') ?? (isLocalHost(host) ? 'offered' : 'required')
  const transport = createTransport({
    host,
    port: Number(url.port) || (secure ? 465 : 587),
    secure,
    requireTLS: tls === 'required',
    ignoreTLS: tls === 'off',
    // A server on this machine can have a self-signed certificate.
    tls: { ...(ca && { ca }), rejectUnauthorized: tls === 'required' || secure },
    ...(url.username && { auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) } }),
    connectionTimeout: timeouts.connectionTimeout,
    greetingTimeout: timeouts.greetingTimeout,
    socketTimeout: timeouts.socketTimeout,
  })
  return {
    async send({ from, to, bytes }: ComposedMessage, signal: AbortSignal) {
      const deadline = AbortSignal.timeout(totalTimeoutMs)
      try {
        await transport.sendMail({
          envelope: { from, to: [to] },
          raw: bytes,
          signal: AbortSignal.any([signal, deadline]),
        })
      } catch (error) {
        if (deadline.aborted) throw new DeliveryFailed(`The mail server took longer than ${totalTimeoutMs / 1_000} s.`)
        throw toDeliveryFailure(error as SmtpError)
      }
    },
  }
}

const isLocalHost = (host: string) => host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host)

/** The fields of nodemailer's errors. */
interface SmtpError {
  code?: string
  /** The system's error code if there is one, for example ECONNREFUSED. */
  originalCode?: string
  responseCode?: number
  response?: string
  command?: string
}

/** If the server rejects one of these commands, the message is the reason. */
const messageCommands = ['MAIL FROM', 'RCPT TO', 'DATA']
/** Responses that end once the settings are corrected: login required, rejected or too weak (RFC 4954). */
const loginCodes = [530, 534, 535, 538]
/** Error codes of the TLS handshake and of certificate verification. */
const encryptionCodes = /CERT|SIGNATURE|SSL|TLS|^EPROTO$/

function toDeliveryFailure({
  code = 'unknown',
  originalCode = code,
  responseCode,
  response = '',
  command = '',
}: SmtpError) {
  if (encryptionCodes.test(originalCode))
    return new DeliveryFailed(
      `The connection to the mail server can't be encrypted (${originalCode}), so the email was not sent.`,
      { affectsAllEmails: true },
    )
  if (responseCode === undefined) return new DeliveryFailed(`The mail server is unreachable: ${originalCode}.`)
  // The text after the codes may repeat an address or the content.
  const [, enhanced] = /^\d{3}[ -]([245]\.\d{1,3}\.\d{1,3})\b/.exec(response) ?? []
  const status = `${responseCode}${enhanced ? ` ${enhanced}` : ''}${command ? ` at ${command}` : ''}`
  if (code === 'EAUTH' || loginCodes.includes(responseCode))
    return new DeliveryFailed(`The mail server rejected the login: ${status}.`, { affectsAllEmails: true })
  const isPermanent = responseCode >= 500 && messageCommands.includes(command)
  return new DeliveryFailed(
    `The mail server ${isPermanent ? 'rejected the message' : 'rejected the message temporarily'}: ${status}.`,
    { isPermanent },
  )
}
