/** Bytes of a message that is written (Protocol Buffers, wire format). There is always room: it grows. */
export interface Message {
  bytes: Buffer<ArrayBuffer>
  length: number
}

export const newMessage = (size: number): Message => ({ bytes: Buffer.allocUnsafe(size), length: 0 })

/** How a field's value is written: its wire type. */
const [varint, eightBytes, counted, fourBytes] = [0, 1, 2, 5]

function makeRoom(to: Message, more: number) {
  if (to.length + more <= to.bytes.length) return
  const larger = Buffer.allocUnsafe(Math.max(2 * to.bytes.length, to.length + more))
  to.bytes.copy(larger, 0, 0, to.length)
  to.bytes = larger
}

/** Bytes of a number in the form of variable length: seven bits in each. */
const mostBytes = 10

function putNumber(to: Message, value: number) {
  let rest = value
  for (; rest >= 128; rest = Math.floor(rest / 128)) to.bytes[to.length++] = (rest % 128) + 128
  to.bytes[to.length++] = rest
}

function begin(to: Message, field: number, wireType: number, more: number) {
  makeRoom(to, 2 * mostBytes + more)
  putNumber(to, field * 8 + wireType)
}

/** A whole number that is not negative, an enumeration's or a boolean's. */
export function addNumber(to: Message, field: number, value: number) {
  begin(to, field, varint, 0)
  putNumber(to, value)
}

/** A whole number below zero: its two's complement in 64 bits. */
export function addNegative(to: Message, field: number, value: number) {
  begin(to, field, varint, 0)
  for (let rest = BigInt.asUintN(64, BigInt(value)); ; rest >>= 7n) {
    const isLast = rest < 128n
    to.bytes[to.length++] = Number(rest & 127n) + (isLast ? 0 : 128)
    if (isLast) return
  }
}

/** Four bytes, the lowest first. */
export function addFixed32(to: Message, field: number, value: number) {
  begin(to, field, fourBytes, 4)
  to.length = to.bytes.writeUInt32LE(value, to.length)
}

/** Eight bytes, the lowest first; of a number that may be more than one holds exactly, as `high * 2 ** 32 + low`. */
export function addFixed64(to: Message, field: number, high: number, low: number) {
  begin(to, field, eightBytes, 8)
  to.length = to.bytes.writeUInt32LE(high, to.bytes.writeUInt32LE(low, to.length))
}

export function addDouble(to: Message, field: number, value: number) {
  begin(to, field, eightBytes, 8)
  to.length = to.bytes.writeDoubleLE(value, to.length)
}

const digitOf = Uint8Array.from({ length: 128 }, (_, code) => Number.parseInt(String.fromCharCode(code), 16) || 0)
const digitAt = (digits: string, i: number) => digitOf[digits.charCodeAt(i)] ?? 0

/** Bytes that are told in hexadecimal, in small letters. */
export function addHex(to: Message, field: number, digits: string) {
  begin(to, field, counted, digits.length / 2)
  putNumber(to, digits.length / 2)
  // Of something so short, Buffer's own way takes longer.
  for (let i = 0; i < digits.length; i += 2) to.bytes[to.length++] = digitAt(digits, i) * 16 + digitAt(digits, i + 1)
}

export function addText(to: Message, field: number, text: string) {
  begin(to, field, counted, 3 * text.length)
  const before = to.length
  putNumber(to, text.length)
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code >= 128) {
      to.length = before
      return putEncoded(to, text)
    }
    to.bytes[to.length++] = code
  }
}

function putEncoded(to: Message, text: string) {
  putNumber(to, Buffer.byteLength(text))
  to.length += to.bytes.write(text, to.length, 'utf8')
}

/** A message within the message. `guess`: how many bytes its length will take. */
export function addMessage(to: Message, field: number, write: () => void, guess = 1) {
  begin(to, field, counted, 0)
  // Its length comes first, and is known last.
  const at = to.length
  to.length += guess
  write()
  const length = to.length - at - guess
  const bytes = length < 128 ? 1 : Math.floor(Math.log2(length) / 7) + 1
  if (bytes !== guess) {
    makeRoom(to, bytes)
    to.bytes.copyWithin(at + bytes, at + guess, to.length)
  }
  to.length = at
  putNumber(to, length)
  to.length += length
}

/** Fields that are written already. */
export function addWritten(to: Message, fields: Uint8Array) {
  makeRoom(to, fields.length)
  to.bytes.set(fields, to.length)
  to.length += fields.length
}

/** What is written so far, as bytes of its own. */
export const written = ({ bytes, length }: Message) => Buffer.from(bytes.subarray(0, length))
