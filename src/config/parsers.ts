import { existsSync, readFileSync, statSync } from 'node:fs'
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
    if (given !== undefined) requireFile(given)
    return given
  },
})

function requireFile(path: string) {
  try {
    statSync(path)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    throw new Unfit(
      /^(ENOENT|ENOTDIR)$/.test(code)
        ? 'names a file that is not there'
        : `names a file that cannot be reached (${code})`,
    )
  }
}

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

/** An environment, with what it does not set taken from `.env` in the current directory. Throws where a line of that cannot be read. */
export function withEnvFile(environment: Readonly<Record<string, string | undefined>>) {
  if (!existsSync('.env')) return environment
  return { ...settingsIn(readFileSync('.env', 'utf8')), ...environment }
}

/** `NAME=value`, perhaps behind `export`; in quotes a value may have several lines. */
const assignment =
  /^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*=(?:[ \t]*(["'])((?:(?!\2)[\s\S])*)\2[ \t]*(?:#.*)?$|(.*)$)/gm

// Node's own parseEnv takes each # for the beginning of a comment, also one in a password, and passes over what it cannot read.
function settingsIn(file: string) {
  const text = file.replaceAll('\r\n', '\n')
  const found: Record<string, string> = {}
  const rest = text.replace(assignment, (all, name: string, _quote, quoted?: string, open = '') => {
    found[name] = quoted ?? open.replace(/\s#.*$/, '').trim()
    return all.replace(/[^\n]+/g, '')
  })
  const faults = rest.split('\n').flatMap((line, i) => (/^\s*(#|$)/.test(line) ? [] : [i + 1]))
  if (faults.length) throw new Error(`.env: line ${faults.join(', ')} is not NAME=value. Mend it, or begin it with #.`)
  return found
}
