import { globSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { generateSamples, type SampleRequest } from './generated-samples.ts'

/** The folder of the samples, which the tests run. */
const folder = fileURLToPath(new URL('../../../examples/shop/', import.meta.url))

/** The languages of the samples, in the order of the pages: the folder's name, the name for viewers and the label. */
const languages = [
  ['curl', 'Shell', 'curl'],
  ['typescript', 'TypeScript', 'TypeScript'],
  ['python', 'Python', 'Python'],
  ['php', 'PHP', 'PHP'],
] as const

/** Returns a sample in each of its languages. */
export const readSample = (name: string) =>
  languages.flatMap(([language, lang, label]) =>
    globSync(`${language}/${name}.*`, { cwd: folder }).map(file => ({
      lang,
      label,
      extension: extname(file).slice(1),
      source: readFileSync(folder + file, 'utf8'),
    })),
  )

/** The sample of an operation or webhook, if it is a file. */
const samples: Readonly<Record<string, string>> = {
  listStores: 'first-request',
  listInventory: 'stock',
  createCustomer: 'create-customer',
  getCustomerRewards: 'rewards',
  placeOrder: 'checkout',
  createReturn: 'return',
  validateVoucher: 'check-voucher',
  issueVoucher: 'issue-voucher',
  listChanges: 'poll-changes',
  receiveChanges: 'receive-webhook',
}

/** Returns the code samples of an operation or webhook (`x-codeSamples`): files, or programs that send a request. */
export function getCodeSamples(operationId: string, request?: SampleRequest) {
  const name = samples[operationId]
  if (name !== undefined)
    return { 'x-codeSamples': readSample(name).map(({ lang, label, source }) => ({ lang, label, source })) }
  return request ? { 'x-codeSamples': generateSamples(request) } : {}
}
