import { readFileSync } from 'node:fs'

const readme = readFileSync(new URL('../../client/README.md', import.meta.url), 'utf8')

/** The examples of the README, unchanged. */
export const examples = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, text = '']) => text)

const isImport = (line: string) => line.startsWith('import ')

/**
 * Builds one program of all examples. The first example connects, and each later one runs in a separate block. The program
 * prints the end of each example, and passes a delivery to the last one, which receives deliveries.
 */
export function buildProgram({ url, apiKey, service }: { url: string; apiKey: string; service: string }): string {
  const snippets = examples.map(text =>
    text
      .replace('https://localhost:8443', url)
      .replace('YOUR-API-KEY', apiKey)
      .replace("service: 'demo'", `service: '${service}'`),
  )
  const lines = snippets.map(text => text.split('\n'))
  const [connect = [], ...laterSnippets] = lines.map(snippet => snippet.filter(line => !isImport(line)).join('\n'))
  return [
    ...new Set(lines.flat().filter(isImport)),
    connect,
    ...laterSnippets.map(
      (text, i) =>
        `{\n${text}${i === laterSnippets.length - 1 ? receiveDelivery : ''}console.log('example ${i + 2} is done')\n}`,
    ),
    'export {}',
  ].join('\n')
}

const receiveDelivery = `
const { body, headers } = JSON.parse((globalThis as unknown as { delivery: string }).delivery)
console.log('received:', (await receive(new Request('https://shop.example/hooks', { method: 'POST', body, headers }))).status)
`
