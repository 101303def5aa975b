import { existsSync, readFileSync } from 'node:fs'
import { isIP } from 'node:net'

/** One setting: what it is for (the line in `.env.example`), an example or the default, and how its text is read. */
export interface Setting<T> {
  why: string
  example: string
  read: (text: string | undefined) => T
}

/** What is wrong with a text, said after the setting's name. */
export class Unfit extends Error {}

export const text = (why: string, fallback: string, example = fallback): Setting<string> => ({
  why,
  example,
  read: given => given ?? fallback,
})

export const optional = (why: string, example: string): Setting<string | undefined> => ({
  why,
  example,
  read: given => given,
})

export const whole = (why: string, fallback: number, [least, most]: readonly [number, number]): Setting<number> => ({
  why,
  example: String(fallback),
  read(given) {
    if (given === undefined) return fallback
    const value = /^\d+$/.test(given) ? Number(given) : Number.NaN
    if (!(value >= least && value <= most)) throw new Unfit(`is a whole number from ${least} to ${most}`)
    return value
  },
})

export const oneOf = <const T extends string>(why: string, fallback: T, words: readonly T[]): Setting<T> => ({
  why,
  example: fallback,
  read(given) {
    const found = given === undefined ? fallback : words.find(word => word === given)
    if (found === undefined) throw new Unfit(`is one of ${words.join(', ')}`)
    return found
  },
})

export const port = (why: string, example: string): Setting<number | undefined> => ({
  ...whole(why, Number(example), [1, 65_535]),
  read: given => (given === undefined ? undefined : whole(why, 0, [1, 65_535]).read(given)),
})

export const file = (why: string, example: string): Setting<string | undefined> => ({
  why,
  example,
  read(given) {
    if (given !== undefined && !existsSync(given)) throw new Unfit('names a file that is not there')
    return given
  },
})

/** A list of addresses and networks. */
export const networks = (why: string, example: string): Setting<string[]> => ({
  why,
  example,
  read(given) {
    const list = (given ?? '')
      .split(',')
      .map(item => item.trim())
      .filter(Boolean)
    if (!list.every(isNetwork)) throw new Unfit('is a list of IP addresses or networks, separated by commas')
    return list
  },
})

/** An address, or one with the number of bits that make its network. */
function isNetwork(text: string) {
  const [address = '', bits = '1', ...more] = text.split('/')
  const most = isIP(address) === 4 ? 32 : 128
  return isIP(address) !== 0 && /^[1-9]\d*$/.test(bits) && Number(bits) <= most && more.length === 0
}

/** Whether it is the address of a mail server, as `SMTP_URL` takes it. */
export function isSmtpUrl(text: string) {
  // User and password may hold anything, as long as it is encoded.
  return /^smtps?:\/\/(([^/?#@%]|%[\da-f]{2})*@)?[^/?#@]+\/?(\?tls=(off|required))?$/i.test(text) && URL.canParse(text)
}

/** An environment, with what it does not set taken from `.env` in the current directory. */
export function withEnvFile(environment: Readonly<Record<string, string | undefined>>) {
  if (!existsSync('.env')) return environment
  const found: Record<string, string> = {}
  for (const line of readFileSync('.env', 'utf8').split('\n')) {
    const [, name, value = ''] = /^\s*([A-Z_0-9]+)\s*=\s*(.*?)\s*$/.exec(line) ?? []
    if (name) found[name] = value.replace(/^(["'])(.*)\1$/, '$2')
  }
  return { ...found, ...environment }
}
