import { createHash, createPublicKey, type KeyObject, randomBytes, sign } from 'node:crypto'
import { isIPv4 } from 'node:net'

/** The content of a certificate. The other fields depend on whether it is a CA certificate. */
interface CertificateRequest {
  subject: string
  key: KeyObject
  /** The hosts of a server certificate, or the only hosts for which a CA can issue certificates. */
  hosts: { names: readonly string[]; addresses: readonly string[] }
  notBefore: Date
  notAfter: Date
  /** The issuer. Absent for a self-signed CA. */
  authority?: { subject: string; key: KeyObject }
}

/** Returns an X.509 certificate (RFC 5280) in PEM format, signed with ECDSA and SHA-256. The keys are private P-256 keys. */
export function issueCertificate(request: CertificateRequest): string {
  const issuer = request.authority ?? request
  const publicKey = exportPublicKey(request.key)
  const toBeSigned = encodeSequence(
    encodeTagged(0, encodeInteger(Buffer.from([2]))),
    encodeInteger(createSerialNumber()),
    ecdsaWithSha256,
    encodeCommonName(issuer.subject),
    encodeSequence(encodeTime(request.notBefore), encodeTime(request.notAfter)),
    encodeCommonName(request.subject),
    publicKey,
    encodeTagged(
      3,
      encodeSequence(...buildExtensions(request, hashKey(publicKey), hashKey(exportPublicKey(issuer.key)))),
    ),
  )
  const signature = sign('sha256', toBeSigned, issuer.key)
  const certificate = encodeSequence(toBeSigned, ecdsaWithSha256, encodeBitString(signature)).toString('base64')
  return `-----BEGIN CERTIFICATE-----\n${certificate.match(/.{1,64}/g)?.join('\n')}\n-----END CERTIFICATE-----\n`
}

function buildExtensions({ authority, hosts }: CertificateRequest, subjectKey: Buffer, authorityKey: Buffer): Buffer[] {
  const common = [
    encodeExtension('2.5.29.14', encodeOctetString(subjectKey)),
    encodeExtension('2.5.29.35', encodeSequence(encodeTlv(0x80, authorityKey))),
  ]
  const names = hosts.names.map(name => encodeTlv(0x82, Buffer.from(name)))
  if (authority) {
    const addresses = hosts.addresses.map(address => encodeTlv(0x87, toAddressBytes(address)))
    return [
      ...common,
      encodeCritical('2.5.29.19', encodeSequence()),
      encodeCritical('2.5.29.15', encodeBitString(Buffer.from([0b1000_0000]), 7)), // digitalSignature
      encodeExtension('2.5.29.37', encodeSequence(encodeObjectIdentifier('1.3.6.1.5.5.7.3.1'))), // serverAuth
      encodeExtension('2.5.29.17', encodeSequence(...names, ...addresses)),
    ]
  }
  const addresses = hosts.addresses
    .map(toAddressBytes)
    .map(bytes => encodeTlv(0x87, bytes, Buffer.alloc(bytes.length, 0xff)))
  const permitted = [...names, ...addresses].map(name => encodeSequence(name))
  return [
    ...common,
    encodeCritical('2.5.29.19', encodeSequence(encodedTrue, encodeInteger(Buffer.from([0])))), // signs end certificates only
    encodeCritical('2.5.29.15', encodeBitString(Buffer.from([0b0000_0110]), 1)), // keyCertSign, cRLSign
    // Name constraints: a thief of the CA's key can't issue certificates for other hosts.
    encodeCritical('2.5.29.30', encodeSequence(encodeTlv(0xa0, ...permitted))),
  ]
}

const exportPublicKey = (key: KeyObject) => createPublicKey(key).export({ type: 'spki', format: 'der' })
// RFC 5280, section 4.2.1.2, permits any digest; 160 bits are usual.
const hashKey = (publicKey: Buffer) => createHash('sha256').update(publicKey).digest().subarray(0, 20)

// The sign bit is 0 and the next bit is 1, so the number is positive and has its full length.
function createSerialNumber(): Buffer {
  const bytes = randomBytes(16)
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40
  return bytes
}

function toAddressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number))
  const [head = '', tail = ''] = address.split('::')
  const listGroups = (text: string) => (text ? text.split(':').map(group => Number.parseInt(group, 16)) : [])
  const [first, last] = [listGroups(head), listGroups(tail)]
  const all = [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last]
  return Buffer.from(all.flatMap(group => [group >> 8, group & 0xff]))
}

// DER encodes each value as tag, length and content.

function encodeTlv(tag: number, ...parts: readonly Buffer[]): Buffer {
  const value = Buffer.concat(parts)
  const { length } = value
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), value])
}

const encodedTrue = encodeTlv(0x01, Buffer.from([0xff]))
const encodeInteger = (value: Buffer) => encodeTlv(0x02, value)
const encodeBitString = (value: Buffer, unusedBits = 0) => encodeTlv(0x03, Buffer.from([unusedBits]), value)
const encodeOctetString = (value: Buffer) => encodeTlv(0x04, value)
const encodeSequence = (...parts: readonly Buffer[]) => encodeTlv(0x30, ...parts)
const encodeTagged = (number: number, value: Buffer) => encodeTlv(0xa0 | number, value)

function encodeObjectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  const bytes = rest.flatMap(number => {
    const base128 = [number & 0x7f]
    for (let remaining = number >> 7; remaining > 0; remaining >>= 7) base128.unshift((remaining & 0x7f) | 0x80)
    return base128
  })
  return encodeTlv(0x06, Buffer.from([first * 40 + second, ...bytes]))
}

function encodeTime(date: Date): Buffer {
  const digits = date.toISOString().replace(/\.\d+|[-:T]/g, '')
  return date.getUTCFullYear() < 2050
    ? encodeTlv(0x17, Buffer.from(digits.slice(2)))
    : encodeTlv(0x18, Buffer.from(digits))
}

const ecdsaWithSha256 = encodeSequence(encodeObjectIdentifier('1.2.840.10045.4.3.2'))
const encodeCommonName = (name: string) =>
  encodeSequence(encodeTlv(0x31, encodeSequence(encodeObjectIdentifier('2.5.4.3'), encodeTlv(0x0c, Buffer.from(name)))))
const encodeExtension = (id: string, value: Buffer) =>
  encodeSequence(encodeObjectIdentifier(id), encodeOctetString(value))
const encodeCritical = (id: string, value: Buffer) =>
  encodeSequence(encodeObjectIdentifier(id), encodedTrue, encodeOctetString(value))
