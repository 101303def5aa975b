import type { ApiResponse } from '../http/responses.ts'
import type { World } from '../world/world.ts'

/** Builds the HTML page at the root, which is the only response with the release. The markup of the real page is unknown. */
export function buildRootPage({ settings }: World): ApiResponse {
  const lines = [
    `Retail API Release ${settings.release}`,
    'Database Connection Details',
    'Apparel21 Database Name SIMULATED',
    'Database connection is available. Database version 19.0.0.0.0',
    'Apparel21 client DLL version 21.0.1',
    'Supported payload versions',
    ...['1.0', '2.0', '3.0', '4.0'],
  ]
  const body = `<!DOCTYPE html>
<html>
<head><title>Apparel21 Retail API</title></head>
<body>
${lines.map(line => `<p>${line}</p>`).join('\n')}
</body>
</html>
`
  return { status: 200, headers: {}, body }
}
