import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Config, readConfig } from '../config/config.ts'
import type { Access } from '../runtime/installation/first-access.ts'
import { startServer } from '../runtime/main.ts'
import { toApiKey } from '../store/accounts/accounts.ts'
import { type Command, formatExamples } from './terminal/command.ts'

export const buildStartCommand = (program: Command) =>
  program
    .command('start')
    .description('Start the API server')
    .option('--no-demo', 'do not create a demo service on the first start')
    .addHelpText(
      'after',
      `${formatExamples(
        ['start', 'serves https://localhost:8443, with a demo shop on the first start'],
        ['start --no-demo', 'starts without the demo shop'],
      )}\nSettings come from the environment or from .env. See .env.example.\n`,
    )
    .action(async ({ demo }: { demo: boolean }) => {
      const config = readConfig()
      await startServer(config, {
        demo,
        isWatched: process.stdout.isTTY,
        say: line => console.log(line),
        onReady: facts => console.log(formatBanner(facts, config)),
      })
    })

/** True if this code is no release: only npx finds its program. */
const isCheckout = existsSync(new URL('../../.git', import.meta.url))

type StartFacts = Parameters<Parameters<typeof startServer>[1]['onReady']>[0]

function formatBanner({ baseUrl, access, hasServices, consoleLink, workers, postgres }: StartFacts, config: Config) {
  const lines = ['', `Tillbridge serves ${baseUrl}${workers > 1 ? ` with ${workers} processes` : ''}.`, '']
  const { runJobs, dataDir } = config
  if (!access) {
    if (!hasServices)
      lines.push('Next, create a service and an account: tillbridge service add, tillbridge account add')
  } else if ('created' in access)
    lines.push(...formatFirstRequest(access.created, quotePath(resolve(dataDir, 'access.json'))))
  else if ('file' in access) lines.push(`The credentials of ${access.username} are in ${quotePath(access.file)}.`)
  else lines.push(`To issue a new password for ${access.username}: tillbridge account rotate ${access.username}`)
  if (runJobs) lines.push(describeEmailDelivery(config))
  else
    lines.push(
      'Background jobs are off (RUN_JOBS=false). Run them with: tillbridge worker',
      'Until a worker runs, emails wait and no sync runs.',
    )
  if (postgres) lines.push(describePostgres(postgres))
  lines.push(`Documentation: ${baseUrl}/docs`)
  if (consoleLink) lines.push(`Console (this link signs in once, within 60 seconds): ${consoleLink}`)
  else lines.push(`Console: ${baseUrl}/console`)
  lines.push('To print a new console sign-in link: tillbridge console')
  if (isCheckout) lines.push('In this checkout, run such commands with npx: npx tillbridge console')
  lines.push('Press Ctrl-C to stop.', '')
  return lines.join('\n')
}

function formatFirstRequest({ baseUrl, username, password, serviceName, caFile }: Access, file: string) {
  const trust = caFile ? `--cacert ${quotePath(caFile)} ` : ''
  return [
    `  username   ${username}`,
    `  password   ${password}`,
    `  API key    ${toApiKey(username, password)}`,
    `  service    ${serviceName}`,
    '',
    'Try a first request:',
    '',
    `  curl ${trust}-u '${username}:${password}' -H 'X-Service-Name: ${serviceName}' '${baseUrl}/customers/search?limit=2'`,
    '',
    `Saved to ${file}. They won't be shown again.`,
  ]
}

const describePostgres = ({ isBundled, version }: NonNullable<StartFacts['postgres']>) =>
  isBundled
    ? `The database is the bundled PostgreSQL ${version}, which is for evaluation. For production, set POSTGRES_BIN_DIR or DATABASE_URL.`
    : `The database is PostgreSQL ${version} of this machine.`

/** Returns one line about how emails are delivered. */
export const describeEmailDelivery = ({ smtpUrl, dataDir }: Config) =>
  smtpUrl === undefined
    ? `Emails are written to ${quotePath(resolve(dataDir, 'mail'))}. To send them, set SMTP_URL.`
    : `Emails are sent through ${new URL(smtpUrl).host}.`

/** Quotes a path for a shell, if necessary. */
const quotePath = (path: string) => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`)
