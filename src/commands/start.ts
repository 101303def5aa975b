import { resolve } from 'node:path'
import type { Command } from 'commander'
import { apiKeyOf } from '../accounts.ts'
import { type Config, readConfig } from '../config.ts'
import { start } from '../main.ts'
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
        say: line => console.log(line),
        onReady: facts => console.log(banner(facts, config)),
      })
    })

type Facts = Parameters<Parameters<typeof start>[1]['onReady']>[0]

function banner({ baseUrl, caFile, access, workers }: Facts, config: Config) {
  const { dataDir, jobs } = config
  const lines = ['', `Tillbridge serves ${baseUrl}${workers > 1 ? ` with ${workers} processes` : ''}.`, '']
  if (access) {
    const trust = caFile ? `--cacert ${quoted(resolve(caFile))} ` : ''
    lines.push(
      `  user       ${access.username}`,
      `  password   ${access.password}`,
      `  API key    ${apiKeyOf(access.username, access.password)}`,
      `  service    ${access.serviceName}`,
      '',
      'A first request:',
      '',
      `  curl ${trust}-u '${access.username}:${access.password}' -H 'X-Service-Name: ${access.serviceName}' '${baseUrl}/customers/search?limit=2'`,
      '',
      `These facts are in ${quoted(resolve(dataDir, 'access.json'))}.`,
    )
  } else lines.push('Make a service and a user with: tillbridge service add, tillbridge user add')
  if (jobs === 'on') lines.push(whereMailGoes(config))
  else
    lines.push(
      'E-mails and other jobs are done by: tillbridge worker',
      'Until one runs, e-mails wait and nothing is pulled from back offices.',
    )
  lines.push(`The API reference: ${baseUrl}/docs`, 'Ctrl-C stops it.', '')
  return lines.join('\n')
}

/** A line that says what becomes of e-mails. */
export const whereMailGoes = ({ smtpUrl, dataDir }: Config) =>
  smtpUrl === undefined
    ? `E-mails are not sent but left in ${quoted(resolve(dataDir, 'mail'))}; SMTP_URL names a mail server.`
    : `E-mails are sent through ${new URL(smtpUrl).host}.`

/** Fit to be pasted into a shell. */
const quoted = (path: string) => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`)
