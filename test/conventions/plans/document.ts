import type { Plan } from './explain.ts'
import type { ListRequest } from './requests.ts'

/** A requested page and the plans of its statements. */
export interface PlannedRequest extends ListRequest {
  page: 'first page' | 'later page'
  records: number
  plans: Plan[]
}

const head = `# Plans

Plans of PostgreSQL 18 for the statements of each list. \`plans.test.ts\` compares them, and \`npm run plans\` writes them again.

PostgreSQL plans a statement once for all values, or each time for the current values. A plan lists the nodes that read a table, and the
nodes that collect rows, such as sorts. Nodes that only pass rows on are omitted. \`by\` is followed by the index condition or the sort key,
\`then\` by the filter that discards rows after they were read. \`?\` is a value, and \`last\` is the end of the page.
`

/** Renders all plans, by list. Requests with equal plans are grouped. */
export function renderDocument(requests: readonly PlannedRequest[]): string {
  const sections = [...Map.groupBy(requests, ({ list }) => list)].map(([list, pages]) => {
    const groups = [...Map.groupBy(pages, ({ plans }) => plans.map(renderPlan).join(''))]
    return `\n## ${list}\n${groups.map(([plans, groupedRequests]) => `\n${groupedRequests.map(renderRequest).join('')}\n\`\`\`\n${plans}\`\`\`\n`).join('')}`
  })
  return head + sections.join('')
}

const renderRequest = ({ url, page }: PlannedRequest) => `- \`${url}\`, ${page}\n`

function renderPlan({ isGeneric, steps }: Plan) {
  const lines = steps.map(
    ({ operation, condition, filter }) =>
      `  ${operation}${condition && ` by ${condition}`}${filter && `, then ${filter}`}\n`,
  )
  return `${isGeneric ? 'once' : 'each time'}\n${lines.join('')}`
}
