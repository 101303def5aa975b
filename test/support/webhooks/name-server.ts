import { createSocket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** A DNS server for a test, and the resolver that uses it. */
export interface NameServer {
  resolver: Resolver
  /** The addresses of each name, one set per query. The last set repeats. Other names don't exist. */
  names: Map<string, (readonly string[])[]>
  queriedNames: string[]
  close(): void
}

const types = { A: 1, AAAA: 28 } as const

/**
 * Starts a DNS server on this machine that answers A and AAAA queries over UDP (RFC 1035). Doesn't answer queries for a
 * name whose list is empty.
 */
export async function startNameServer(): Promise<NameServer> {
  const names: NameServer['names'] = new Map()
  const queriedNames: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (question, { port, address }) => {
    const { name, type, end } = parseQuestion(question)
    if (type === types.A) queriedNames.push(name)
    const addresses = names.get(name)
    if (addresses?.length === 0) return
    const current = addresses?.[0] ?? []
    // Both types are queried at once, A first.
    if (addresses && addresses.length > 1 && type === types.AAAA) addresses.shift()
    const matching = current.filter(record => types[isIP(record) === 4 ? 'A' : 'AAAA'] === type)
    socket.send(buildAnswer(question, end, type, matching, addresses !== undefined), port, address)
  })
  await new Promise<void>(resolve => socket.bind(0, '127.0.0.1', resolve))
  const resolver = new Resolver({ timeout: 500, tries: 1 })
  resolver.setServers([`127.0.0.1:${socket.address().port}`])
  return { resolver, names, queriedNames, close: () => socket.close() }
}

function parseQuestion(question: Buffer) {
  const labels: string[] = []
  let at = 12
  for (let length = question[at] ?? 0; length; length = question[at] ?? 0) {
    labels.push(question.toString('latin1', at + 1, at + 1 + length))
    at += length + 1
  }
  return { name: labels.join('.').toLowerCase(), type: question.readUInt16BE(at + 1), end: at + 5 }
}

function buildAnswer(question: Buffer, end: number, type: number, addresses: readonly string[], exists: boolean) {
  const head = Buffer.from(question.subarray(0, 12))
  head.writeUInt16BE(exists ? 0x8180 : 0x8183, 2)
  head.writeUInt16BE(addresses.length, 6)
  head.fill(0, 8)
  const records = addresses.map(address => {
    const bytes = Buffer.from(ipaddr.parse(address).toByteArray())
    const record = Buffer.alloc(12)
    record.writeUInt16BE(0xc00c, 0)
    record.writeUInt16BE(type, 2)
    record.writeUInt16BE(1, 4)
    record.writeUInt16BE(bytes.length, 10)
    return Buffer.concat([record, bytes])
  })
  return Buffer.concat([head, question.subarray(12, end), ...records])
}
