import { resolve } from 'node:path'
import type { Command } from 'commander'
import { type Config, readConfig } from '../config/config.ts'
import type { Access } from '../runtime/installation/first-access.ts'
import { start } from '../runtime/main.ts'
import { apiKeyOf } from '../store/accounts/accounts.ts'
import { examples } from './terminal/examples.ts'

export const startCommand = (program: Command) =>
  program
    .command('start')
    .description('Serve the API over HTTPS, on the bundled PostgreSQL or on DATABASE_URL.')
    .option('--no-demo', 'make no demo service where there is no service yet')
    .addHelpText(
      'after',
      `${examples(
        ['start', 'on https://localhost:8443, with a demo shop on the first start'],
        ['start --no-demo', 'the same, without a demo'],
      )}\nSettings come from the environment or from .env; .env.example lists them.\n`,
    )
    .action(async ({ demo }: { demo: boolean }) => {
      const config = readConfig()
      await start(config, {
        demo,
        isWatched: process.stdout.isTTY,
        say: line => console.log(line),
        onReady: facts => console.log(banner(facts, config)),
      })
    })

type Facts = Parameters<Parameters<typeof start>[1]['onReady']>[0]

function banner({ baseUrl, access, consoleLink, workers }: Facts, config: Config) {
  const lines = ['', `Tillbridge serves ${baseUrl}${workers > 1 ? ` with ${workers} processes` : ''}.`, '']
  const { runJobs, dataDir } = config
  if (!access) lines.push('Make a service and a user with: tillbridge service add, tillbridge user add')
  else if ('made' in access) lines.push(...firstRequest(access.made, quoted(resolve(dataDir, 'access.json'))))
  else if ('file' in access) lines.push(`The access of ${access.username} is in ${quoted(access.file)}.`)
  else
    lines.push(
      `The password of ${access.username} is not known here; a further one: tillbridge user rotate ${access.username}`,
    )
  if (runJobs) lines.push(whereMailGoes(config))
  else
    lines.push(
      'E-mails and other jobs are done by: tillbridge worker',
      'Until one runs, e-mails wait and nothing is pulled from back offices.',
    )
  lines.push(`The API reference: ${baseUrl}/docs`)
  if (consoleLink) lines.push(`The console, signed in, once within 60 seconds: ${consoleLink}`)
  else lines.push(`The console: ${baseUrl}/console`)
  lines.push('A link that signs in to the console: tillbridge console', 'Ctrl-C stops it.', '')
  return lines.join('\n')
}

function firstRequest({ baseUrl, username, password, serviceName, caFile }: Access, file: string) {
  const trust = caFile ? `--cacert ${quoted(caFile)} ` : ''
  return [
    `  user       ${username}`,
    `  password   ${password}`,
    `  API key    ${apiKeyOf(username, password)}`,
    `  service    ${serviceName}`,
    '',
    'A first request:',
    '',
    `  curl ${trust}-u '${username}:${password}' -H 'X-Service-Name: ${serviceName}' '${baseUrl}/customers/search?limit=2'`,
    '',
    `These facts are in ${file}, and are not shown again.`,
  ]
}

/** A line that says what becomes of e-mails. */
export const whereMailGoes = ({ smtpUrl, dataDir }: Config) =>
  smtpUrl === undefined
    ? `E-mails are not sent but left in ${quoted(resolve(dataDir, 'mail'))}; SMTP_URL names a mail server.`
    : `E-mails are sent through ${new URL(smtpUrl).host}.`

/** Fit to be pasted into a shell. */
const quoted = (path: string) => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`)
