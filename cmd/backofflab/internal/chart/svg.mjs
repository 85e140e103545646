// Draws pictures as SVG files. It reads {script, style, own, pictures: {name: picture}} from
// standard input and writes {name: svg} to standard output.
import { readFileSync } from "node:fs"

const { script, style, own, pictures } = JSON.parse(readFileSync(0, "utf8"))
const charts = (0, eval)(script + "\n;charts")
charts.highlight(own ?? [])

const escape = text => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")
const files = {}
for (const [name, picture] of Object.entries(pictures)) {
  const svg = charts.svg(picture, 720)
    .replace(/ class="zr\d+-cls-\d+"| pointer-events="visible"| ecmeta_\w+="[^"]*"/g, "") // these attributes are only for pointers
    .replace(/<style ?>.*?<\/style>\s*/s, "")
    .replace(/zr\d+-/g, "")
  const open = svg.indexOf(">") + 1
  files[name] = svg.slice(0, open - 1) + ` role="img">\n<title>${escape(picture.title)}</title>\n<style>${style}</style>` + svg.slice(open) + "\n"
}
process.stdout.write(JSON.stringify(files), () => process.exit())
