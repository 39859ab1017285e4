/** The company of the design guide, end to end: each chapter shows some patterns and what they cost. */
import { archive } from './chapters/archive.ts'
import { departments } from './chapters/departments.ts'
import { elsewhere } from './chapters/elsewhere.ts'
import { newestFirst } from './chapters/newest-first.ts'
import { people } from './chapters/people.ts'
import { secretsAndPhotos } from './chapters/secrets-and-photos.ts'
import { seriesAndWide } from './chapters/series-and-wide.ts'
import { openStage, type Stage } from './stage.ts'

const chapters: readonly ((stage: Stage) => Promise<void>)[] = [
  departments,
  elsewhere,
  newestFirst,
  seriesAndWide,
  secretsAndPhotos,
  people,
  archive,
]

const stage = await openStage()
try {
  for (const chapter of chapters) await chapter(stage)
} finally {
  await stage.close()
}
