/** What stands behind a service, and how it is reached: the service's own, or the environment's for all that have none. */
export interface BackOfficeSettings {
  driver: DriverName
  /** The base of its API. */
  url?: string
  /** What it calls the country, or the web store. */
  country?: string
  user?: string
  password?: string
  /** Certificates (PEM) to trust. */
  ca?: string
  /** The zone of the head office; absent: the service's. */
  timeZone?: string
  /** The release, where it cannot be found out. */
  release?: string
  /** The folder that it writes its scheduled exports to. */
  exports?: string
}

export const driverNames = ['embedded', 'apparel21'] as const
export type DriverName = (typeof driverNames)[number]

/** One text of the settings: what it is for, and what is wrong with a value of it. */
interface Field {
  why: string
  example: string
  /** What it has to be, where it is not. */
  unfit?: (text: string) => string | undefined
}

const most =
  (characters: number) =>
  (text: string): string | undefined =>
    text.length > characters || /\p{Cc}/u.test(text)
      ? `has at most ${characters} characters, none of control`
      : undefined

/** The texts that both the environment (`BACK_OFFICE_URL`) and `tillbridge back-office set` (`url=…`) take. */
export const backOfficeFields = {
  url: {
    why: "The base of the back office's API.",
    example: 'https://retail.example/RetailAPI/',
    unfit: text => (isBase(text) ? undefined : 'is an address like https://host/RetailAPI/, without a user or a query'),
  },
  country: {
    why: 'The code by which the back office knows the country, or the web store.',
    example: 'AU',
    unfit: most(50),
  },
  user: { why: 'The user to sign in to it as; without one nobody signs in.', example: 'retail', unfit: most(250) },
  timeZone: {
    why: "The head office's time zone, as the IANA names it. Without it: the service's.",
    example: 'Australia/Melbourne',
    unfit: text => (isTimeZone(text) ? undefined : 'is a time zone as the IANA names it'),
  },
  release: {
    why: 'The release of its API, where its page does not tell it.',
    example: '2022.1',
    unfit: text => (/^\d{4}\.\d{1,3}[a-z]?$/.test(text) ? undefined : 'is a release like 2022.1 or 2023.4a'),
  },
  exports: {
    why: 'The folder that it leaves its exports in: customers_, orders_ and rewards_ files (CSV).',
    example: '/srv/exports/luma',
    unfit: text => (text.startsWith('/') ? most(500)(text) : 'is the whole path of a folder, from / on'),
  },
} as const satisfies Record<string, Field>
export type BackOfficeField = keyof typeof backOfficeFields

export const unfitFor = (name: BackOfficeField, text: string): string | undefined =>
  (backOfficeFields[name] as Field).unfit?.(text)

function isBase(text: string) {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return false
  const { username, password, search, hash } = new URL(text)
  return username + password + search + hash === '' && text.length <= 500
}

function isTimeZone(text: string) {
  try {
    return /^[A-Z]/.test(text) && Boolean(new Intl.DateTimeFormat('en', { timeZone: text }))
  } catch {
    return false
  }
}

/** What does not go together, a sentence each. `named` says what whoever set it calls a setting. */
export function contradictionsIn(
  { driver, ...given }: BackOfficeSettings,
  named: (name: keyof BackOfficeSettings) => string,
): string[] {
  const faults: string[] = []
  const names = (Object.keys(given) as (keyof typeof given)[]).filter(name => given[name] !== undefined)
  if (driver === 'embedded') {
    if (names.length)
      faults.push(
        `${names.map(named).join(', ')}: nothing of the embedded back office; ${named('driver')}=apparel21 is missing.`,
      )
    return faults
  }
  for (const name of ['url', 'country'] as const)
    if (given[name] === undefined) faults.push(`${named(name)} is needed where ${named('driver')} is ${driver}.`)
  if ((given.user === undefined) !== (given.password === undefined))
    faults.push(`${named('user')} and ${named('password')} are set together, or neither.`)
  if (given.user?.includes(':')) faults.push(`${named('user')} has no colon: Basic authentication cannot carry one.`)
  return faults
}
