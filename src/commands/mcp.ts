import { randomBytes } from 'node:crypto'
import type { Role } from '../domain/accounts.ts'
import type { ApiKeyInUse } from '../domain/api-keys.ts'
import { isConsoleOperation } from '../http/routing/operation.ts'
import { routes } from '../resources/resources.ts'
import type { Command } from './terminal/command.ts'
import { readSecret } from './terminal/secret.ts'

/** The part of `GET /me` that tools need. */
interface Me {
  role: Role
  username: string
  key: ApiKeyInUse | null
}

interface Options {
  url: string
  service: string
  apiKeyFile: string
}

export const buildMcpCommand = (program: Command) =>
  program
    .command('mcp')
    .description('Serve tools for AI agents over standard input and output')
    .requiredOption('--url <url>', 'the address of the installation')
    .requiredOption('--service <name>', 'the service')
    .requiredOption('--api-key-file <file>', 'a file with the API key: the base64 of username:password')
    .examples([
      'mcp --url https://retail.example --service luma --api-key-file key',
      'serves the tools that the account or its API key permits',
    ])
    .action(async ({ url, service, apiKeyFile }: Options) => {
      const apiKey = await readSecret('', apiKeyFile, 'API key')
      const headers = { authorization: `Basic ${apiKey}`, 'x-service-name': service, accept: 'application/json' }
      const send = async (request: { method: string; url: string; headers: Record<string, string>; body?: string }) => {
        const response = await fetch(new URL(request.url, url), {
          ...request,
          headers: { ...headers, ...request.headers },
        })
        const etag = response.headers.get('etag') ?? undefined
        return { status: response.status, text: await response.text(), etag }
      }
      const me = await send({ method: 'GET', url: '/me', headers: {} })
      if (me.status !== 200) throw new Error(`${url} rejected the API key: ${me.text}`)
      const { role, username, key: usedKey } = (JSON.parse(me.text) as { data: Me }).data
      const [{ serveStdio }, { createToolServer }] = await Promise.all([
        import('@modelcontextprotocol/server/stdio'),
        import('../mcp/tool-server.ts'),
      ])
      // Confirmations are valid in this process only.
      const key = randomBytes(32)
      const operations = routes.map(({ operation }) => operation).filter(operation => !isConsoleOperation(operation))
      serveStdio(() =>
        createToolServer({ operations, role, apiKey: usedKey ?? undefined, caller: [service, username], key, send }),
      )
    })
