import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { linkSeconds } from '../auth/sessions.ts'
import { readConfig } from '../config/config.ts'
import type { Db } from '../database/db.ts'
import { linkFor } from '../runtime/installation/console-link.ts'
import { readAccess } from '../runtime/installation/first-access.ts'
import { listAccounts } from '../store/accounts/accounts.ts'
import { examples } from './terminal/examples.ts'
import { withDatabase } from './terminal/session.ts'

export const consoleCommand = (program: Command) =>
  program
    .command('console')
    .argument('[username]', 'whom to sign in; not needed where there is one only, or a start has made one')
    .description('Print a link that signs in to the console in a browser: once, within 60 seconds.')
    .option(
      '--open',
      'open it in the browser of this machine too; others who list its processes then see the link until it is used',
    )
    .addHelpText(
      'after',
      examples(['console', 'a link for the first account'], ['console anna --open', 'open the console as anna']),
    )
    .action((given: string | undefined, { open = false }: { open?: boolean }) =>
      withDatabase(async ({ control, keys }) => {
        const config = readConfig()
        const access = await readAccess(resolve(config.dataDir, 'access.json'))
        const baseUrl = config.publicUrl ?? access?.baseUrl ?? `https://localhost:${config.port}`
        const username = given ?? (await onlyAccount(control, access?.username))
        const link = await linkFor({ db: control, keys }, username, baseUrl)
        if (!link) throw new Error(`There is no account ${username}; tillbridge user list shows those there are.`)
        console.log(`Signs ${username} in, once, within ${linkSeconds} seconds:\n\n  ${link}\n`)
        if (open) await openInBrowser(link)
      }),
    )

/** The account that a start has made, if it is still there, or the only one. */
async function onlyAccount(db: Db, made: string | undefined): Promise<string> {
  const names = (await listAccounts(db)).map(({ username }) => username)
  if (made !== undefined && names.includes(made)) return made
  const [only, ...more] = names
  if (only === undefined) throw new Error('There is no account yet; make one with: tillbridge user add <username>')
  if (more.length) throw new Error(`There are several accounts; say which one: ${names.join(', ')}.`)
  return only
}

const openers: Partial<Record<NodeJS.Platform, string>> = { darwin: 'open', linux: 'xdg-open' }

async function openInBrowser(link: string) {
  const opener = openers[process.platform]
  if (!opener) throw new Error('Browsers cannot be opened from here: open the link yourself.')
  const child = spawn(opener, [link], { stdio: 'ignore', detached: true })
  await once(child, 'spawn').catch(() => {
    throw new Error(`${opener} is not installed: open the link yourself.`)
  })
  child.unref()
}
