import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { linkSeconds } from '../auth/sessions.ts'
import { readConfig } from '../config/config.ts'
import type { Db } from '../database/db.ts'
import { createConsoleLink } from '../runtime/installation/console-link.ts'
import { readAccess } from '../runtime/installation/first-access.ts'
import { listAccounts } from '../store/accounts/accounts.ts'
import type { Command } from './terminal/command.ts'
import { withDatabase } from './terminal/session.ts'

export const buildConsoleCommand = (program: Command) =>
  program
    .command('console')
    .argument('[username]', 'the account (default: the only one, or that of the first start)')
    .description('Print a one-time console sign-in link')
    .option('--open', "also open it in this machine's browser (visible in the process list until used)")
    .examples(
      ['console', 'prints a link for the first account, valid once within 60 seconds'],
      ['console anna --open', 'opens the console as anna'],
    )
    .action((usernameArgument: string | undefined, { open = false }: { open?: boolean }) =>
      withDatabase(async ({ control, keys }) => {
        const config = readConfig()
        const access = await readAccess(resolve(config.dataDir, 'access.json'))
        const baseUrl = config.publicUrl ?? access?.baseUrl ?? `https://localhost:${config.port}`
        const username = usernameArgument ?? (await findDefaultAccount(control, access?.username))
        const link = await createConsoleLink({ db: control, keys }, username, baseUrl)
        if (!link) throw new Error(`Account ${username} not found. Run "tillbridge account list".`)
        console.log(`This link signs ${username} in once, within ${linkSeconds} seconds:\n\n  ${link}\n`)
        if (open) await openInBrowser(link)
      }),
    )

/** Returns the account that the first start created, if it still exists, otherwise the only account. */
async function findDefaultAccount(db: Db, preferred: string | undefined): Promise<string> {
  const names = (await listAccounts(db)).map(({ username }) => username)
  if (preferred !== undefined && names.includes(preferred)) return preferred
  const [only, ...more] = names
  if (only === undefined) throw new Error('No account exists yet. Create one: tillbridge account add <username>')
  if (more.length) throw new Error(`The username is required, because there are several accounts: ${names.join(', ')}.`)
  return only
}

const openers: Partial<Record<NodeJS.Platform, string>> = { darwin: 'open', linux: 'xdg-open' }

async function openInBrowser(link: string) {
  const opener = openers[process.platform]
  if (!opener) throw new Error("Tillbridge can't open a browser on this platform. Open the link yourself.")
  const child = spawn(opener, [link], { stdio: 'ignore', detached: true })
  await once(child, 'spawn').catch(() => {
    throw new Error(`${opener} is not installed. Open the link yourself.`)
  })
  child.unref()
}
