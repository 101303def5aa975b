import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { buildCatalogue, checkTranslations, collectTexts } from './texts/collect.ts'

// Fails if a text of the console isn't in the catalogue, or if a translated catalogue doesn't fit the English one.

const root = fileURLToPath(new URL('..', import.meta.url))
const collected = collectTexts()
const literals = collected.findings.map(
  ({ path, line, problem }) => `${path}:${line}: not in the catalogue: ${problem}`,
)
const english = buildCatalogue(collected)
const translations = globSync('console/texts/*.json', { cwd: root })
  .filter(path => !path.endsWith('/en.json'))
  .flatMap(path =>
    checkTranslations(english, JSON.parse(readFileSync(root + path, 'utf8'))).map(problem => `${path}: ${problem}`),
  )
const findings = [...literals, ...translations]
for (const finding of findings) console.log(finding)
process.exitCode = findings.length ? 1 : 0
console.log(`${findings.length} findings in ${Object.keys(english).length} texts`)
