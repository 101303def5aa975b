import { existsSync, readFileSync, statSync } from 'node:fs'
import { isIP } from 'node:net'

/** One environment variable: its description (a comment in `.env.example`), an example or its default, and its parser. */
export interface Setting<T> {
  description: string
  example: string
  read: (value: string | undefined) => T
}

/** Thrown for an invalid value. The message follows the setting's name: "must be an IP address". */
export class InvalidSetting extends Error {}

export const string = (description: string, fallback: string, example = fallback): Setting<string> => ({
  description,
  example,
  read: value => value ?? fallback,
})

export const optional = (description: string, example: string): Setting<string | undefined> => ({
  description,
  example,
  read: value => value,
})

export const integer = (
  description: string,
  fallback: number,
  [min, max]: readonly [number, number],
): Setting<number> => ({
  description,
  example: String(fallback),
  read(value) {
    if (value === undefined) return fallback
    const number = /^\d+$/.test(value) ? Number(value) : Number.NaN
    if (!(number >= min && number <= max)) throw new InvalidSetting(`must be an integer from ${min} to ${max}`)
    return number
  },
})

export const oneOf = <const T extends string>(description: string, fallback: T, choices: readonly T[]): Setting<T> => ({
  description,
  example: fallback,
  read(value) {
    const choice = value === undefined ? fallback : choices.find(allowed => allowed === value)
    if (choice === undefined) throw new InvalidSetting(`must be one of ${choices.join(', ')}`)
    return choice
  },
})

export const boolean = (description: string, fallback: boolean): Setting<boolean> => ({
  description,
  example: String(fallback),
  read(value) {
    if (value === undefined) return fallback
    if (value !== 'true' && value !== 'false') throw new InvalidSetting('must be true or false')
    return value === 'true'
  },
})

export const port = (description: string, example: string): Setting<number | undefined> => ({
  ...integer(description, Number(example), [1, 65_535]),
  read: value => (value === undefined ? undefined : integer(description, 0, [1, 65_535]).read(value)),
})

export const ipAddress = (description: string, fallback: string): Setting<string> => ({
  description,
  example: fallback,
  read(value) {
    if (value !== undefined && !isIP(value)) throw new InvalidSetting('must be an IP address')
    return value ?? fallback
  },
})

export const file = (description: string, example: string): Setting<string | undefined> => ({
  description,
  example,
  read(value) {
    if (value !== undefined) requireFile(value)
    return value
  },
})

function requireFile(path: string) {
  try {
    statSync(path)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    throw new InvalidSetting(
      /^(ENOENT|ENOTDIR)$/.test(code) ? 'must name an existing file' : `must name a file that can be read (${code})`,
    )
  }
}

/** A comma-separated list of IP addresses and networks. */
export const networks = (description: string, example: string): Setting<string[]> => ({
  description,
  example,
  read(value) {
    const list = (value ?? '')
      .split(',')
      .map(item => item.trim())
      .filter(Boolean)
    if (!list.every(isNetwork))
      throw new InvalidSetting('must be a list of IP addresses or networks, separated by commas')
    return list
  },
})

/** True for an IP address, alone or with a prefix length (CIDR). */
function isNetwork(value: string) {
  const [address = '', bits = '1', ...more] = value.split('/')
  const maxBits = isIP(address) === 4 ? 32 : 128
  return isIP(address) !== 0 && /^[1-9]\d*$/.test(bits) && Number(bits) <= maxBits && more.length === 0
}

/** True if `SMTP_URL` accepts the URL. */
export function isSmtpUrl(value: string) {
  // User and password can contain any character, if it is percent-encoded.
  return (
    /^smtps?:\/\/(([^/?#@%]|%[\da-f]{2})*@)?[^/?#@]+\/?(\?tls=(off|required))?$/i.test(value) && URL.canParse(value)
  )
}

/** Returns an environment, completed from `.env` in the current directory. Throws if a line of `.env` can't be parsed. */
export function withEnvFile(environment: Readonly<Record<string, string | undefined>>) {
  if (!existsSync('.env')) return environment
  return { ...parseEnvFile(readFileSync('.env', 'utf8')), ...environment }
}

/** `NAME=value`, optionally after `export`. A quoted value can span several lines. */
const assignment =
  /^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*=(?:[ \t]*(["'])((?:(?!\2)[\s\S])*)\2[ \t]*(?:#.*)?$|(.*)$)/gm

// Node's parseEnv starts a comment at every #, even inside a password, and silently skips lines that it can't parse.
function parseEnvFile(path: string) {
  const content = path.replaceAll('\r\n', '\n')
  const settings: Record<string, string> = {}
  const unparsed = content.replace(assignment, (all, name: string, _quote, quoted?: string, unquoted = '') => {
    settings[name] = quoted ?? unquoted.replace(/\s#.*$/, '').trim()
    return all.replace(/[^\n]+/g, '')
  })
  const lines = unparsed.split('\n').flatMap((line, i) => (/^\s*(#|$)/.test(line) ? [] : [i + 1]))
  if (lines.length)
    throw new Error(
      `.env: line ${lines.join(', ')} must have the form NAME=value. Correct it, or comment it out with #.`,
    )
  return settings
}
