import { createInterface } from 'node:readline/promises'

/** Asks the person at the terminal to type a word once more; whether they did. */
export async function isTyped(word: string, whatFor: string): Promise<boolean> {
  const asking = createInterface({ input: process.stdin, output: process.stderr })
  try {
    process.stderr.write(`${whatFor}, type ${word}: `)
    for await (const line of asking) return line.trim() === word
    return false
  } finally {
    asking.close()
  }
}
