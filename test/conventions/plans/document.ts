import type { Plan } from './explain.ts'
import type { ListRequest } from './requests.ts'

/** A requested page and the plans of its statements. */
export interface PlannedRequest extends ListRequest {
  page: 'first page' | 'later page'
  records: number
  plans: Plan[]
}

const head = `# Plans

Plans of PostgreSQL 18 for the statements of each list, recorded by \`plans.test.ts\` and written by \`npm run plans\`.

A statement is planned once for all values, or each time for the values that it has. Below it stands what reads a table, and what
keeps rows back; what hands them on is left out. Behind \`by\` stands what is looked up in the index or sorted by, behind \`then\` what
rows are thrown away by once they are read. \`?\` is a value, \`last\` the end of the page.
`

/** Renders all plans, by list. Requests with equal plans are grouped. */
export function documentOf(requests: readonly PlannedRequest[]): string {
  const sections = [...Map.groupBy(requests, ({ list }) => list)].map(([list, pages]) => {
    const alike = [...Map.groupBy(pages, ({ plans }) => plans.map(written).join(''))]
    return `\n## ${list}\n${alike.map(([plans, of]) => `\n${of.map(named).join('')}\n\`\`\`\n${plans}\`\`\`\n`).join('')}`
  })
  return head + sections.join('')
}

const named = ({ url, page }: PlannedRequest) => `- \`${url}\`, ${page}\n`

function written({ generic, steps }: Plan) {
  const lines = steps.map(({ does, by, filter }) => `  ${does}${by && ` by ${by}`}${filter && `, then ${filter}`}\n`)
  return `${generic ? 'once' : 'each time'}\n${lines.join('')}`
}
