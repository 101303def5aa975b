import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { buildClient, type Language, languages } from './build.ts'

const help = `Builds the client packages from clients/ and openapi.json.

Usage: npm run clients -- [LANGUAGE…] [--to DIRECTORY]

Languages: ${languages.join(', ')}. Default: all.
Default directory: dist/clients.

Example: npm run clients -- python --to /tmp/clients
         pip install /tmp/clients/python`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { to: { type: 'string', default: 'dist/clients' }, help: { type: 'boolean', short: 'h' } },
})
const unknown = positionals.find(name => !languages.includes(name as Language))
if (values.help) console.log(help)
else if (unknown) {
  console.error(`There is no client for ${unknown}. The language must be one of ${languages.join(', ')}.`)
  process.exitCode = 1
} else
  for (const language of positionals.length > 0 ? (positionals as Language[]) : languages) {
    const directory = join(resolve(values.to), language)
    if (await buildClient(language, directory)) console.log(`${language}: ${directory}`)
    else process.exitCode = 1
  }
