const inlined = document.getElementById("cocabo-data");
const main = document.getElementById("main");
const text = inlined ? inlined.textContent : await (await fetch("api/studies")).text();
const list = inlined ? JSON.parse(text)["/api/studies"] : JSON.parse(text);
for (const study of list.studies) {
  const line = document.createElement("p");
  line.textContent = `${study.name}: ${study.count} trials, best ${study.best ? study.best.value : "none"}`;
  main.append(line);
}
