import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { describeReadError } from '../../import/sources/file.ts'

/** Reads one line with a secret from a file, or from standard input without echoing it. Throws if the line is empty. */
export async function readSecret(prompt: string, file?: string, label = 'password'): Promise<string> {
  const text = file === undefined ? await readLine(prompt) : await readSecretFile(file)
  const secret = text.replace(/\r?\n[\s\S]*$/, '')
  if (secret === '') throw new Error(file === undefined ? `The ${label} can't be empty.` : `${file} can't be empty.`)
  return secret
}

const readSecretFile = (file: string) =>
  readFile(file, 'utf8').catch(error => {
    throw new Error(describeReadError(file, error))
  })

async function readLine(prompt: string): Promise<string> {
  const { stdin, stderr } = process
  if (stdin.isTTY) stderr.write(prompt)
  const discard = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: stdin, output: discard, terminal: stdin.isTTY })
  try {
    for await (const line of lines) return line
    return ''
  } finally {
    lines.close()
    if (stdin.isTTY) stderr.write('\n')
  }
}
